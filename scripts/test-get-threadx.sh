#!/usr/bin/env bash
# Tests of scripts/get-threadx.sh against a repository of its own: no network is used.
#
#   scripts/test-get-threadx.sh
#
# The last line is `N passed, N failed`; exits with 0 only if nothing failed.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

no_options "$@"
command -v git >/dev/null || die 'git is missing: install it'
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# ---- a remote with what the script looks for, and a workspace to fetch into ----
remote=$scratch/remote
mkdir -p "$remote"/{common/inc,ports/cortex_r52/gnu/src,ports/cortex_r5/gnu/src,ports/other,samples}
echo '#define TX_API_H' >"$remote/common/inc/tx_api.h"
# Large enough for a transfer that can be cut.
head -c 300000 /dev/urandom >"$remote/common/inc/large.h"
echo x >"$remote/ports/cortex_r52/gnu/src/x.S"
echo x >"$remote/ports/cortex_r5/gnu/src/x.S"
echo x >"$remote/ports/other/x.S"
echo x >"$remote/samples/demo_threadx.c"
g() { git -C "$remote" -c user.name=test -c user.email=test@localhost -c commit.gpgsign=false "$@"; }
g init --quiet
g config uploadpack.allowFilter true
g config uploadpack.allowAnySHA1InWant true
g add . && g commit --quiet -m one
first=$(g rev-parse HEAD)
echo '/* more */' >>"$remote/common/inc/tx_api.h"
g commit --quiet -am two
second=$(g rev-parse HEAD)

workspace=$scratch/workspace
mkdir -p "$workspace/scripts"
cp "$ROOT/Cargo.toml" "$workspace"
cp "$ROOT"/scripts/{env,get-threadx}.sh "$workspace/scripts"
to=$workspace/threadx-src

# fetch [VARIABLE=VALUE...]: runs the script; its code in `code`, what it said in the log.
fetch() {
  code=0
  env GIT_CONFIG_GLOBAL=/dev/null GIT_ALLOW_PROTOCOL=file:ext:https:ssh THREADX_COMMIT="$first" THREADX_GIT="file://$remote" "$@" \
    timeout 120 "$workspace/scripts/get-threadx.sh" >"$scratch/log" 2>&1 </dev/null || code=$?
}
# fails NAME TEXT [VARIABLE=VALUE...]: ends with one line of error that has TEXT.
fails() {
  local name=$1 text=$2 last
  shift 2
  fetch "$@"
  last=$(tail -n 1 "$scratch/log")
  if [ "$code" != 0 ] && [[ $last == *"$text"* ]]; then ok "$name: $last"; else bad "$name: code $code, $last"; fi
}
# works NAME [VARIABLE=VALUE...]: all of the commit, and only what is asked for.
works() {
  local name=$1
  shift
  fetch "$@"
  if [ "$code" != 0 ]; then
    bad "$name: $(tail -n 1 "$scratch/log")"
  elif [ -f "$to/common/inc/large.h" ] && [ -f "$to/samples/demo_threadx.c" ] && [ ! -e "$to/ports/other" ] &&
    cmp -s "$to/common/inc/large.h" "$remote/common/inc/large.h"; then
    ok "$name: $(tail -n 1 "$scratch/log")"
  else
    bad "$name: not the files of the commit"
  fi
}
size() { du -sk "$to" | cut -f 1; }

# ---- what cannot work ----
fails 'a limit that is none' 'is not a number of seconds' THREADX_LIMIT=soon
fails 'a commit that is none' 'is not a commit' THREADX_COMMIT=main
fails 'no network' 'run this again (it goes on), or set THREADX_DIR' THREADX_GIT=https://threadx.invalid/threadx.git
fails 'a remote without the commit' 'cannot fetch the sources' THREADX_COMMIT=0123456789012345678901234567890123456789
start=$SECONDS
fails 'a remote that says nothing' 'not finished within 2 seconds' THREADX_LIMIT=2 THREADX_GIT='ext::sleep 60'
if [ $((SECONDS - start)) -lt 30 ]; then ok 'the limit holds'; else bad "the limit took $((SECONDS - start)) s"; fi

# ---- a connection that is cut goes on, in the same folder ----
cat >"$scratch/cut" <<END
#!/bin/sh
git upload-pack "$remote" | dd bs=1 count=4000 2>/dev/null
END
chmod +x "$scratch/cut"
fails 'a cut connection' 'run this again (it goes on)' THREADX_GIT=ssh://nowhere/x GIT_SSH_VARIANT=simple GIT_SSH="$scratch/cut"
works 'going on after it'
works 'once more, without a network' THREADX_GIT=https://threadx.invalid/threadx.git
say "$(size) KiB fetched"

# ---- what is there is verified ----
echo 'int changed;' >>"$to/common/inc/tx_api.h"
works 'a changed file'
if cmp -s "$to/common/inc/tx_api.h" <(git -C "$remote" show "$first:common/inc/tx_api.h"); then ok 'it is as it was'; else bad 'the change is still there'; fi
rm "$to/common/inc/large.h"
works 'a file that is gone'
works 'another commit' THREADX_COMMIT="$second"
if [ "$(tail -n 1 "$to/common/inc/tx_api.h")" = '/* more */' ]; then ok 'it is the other one'; else bad 'it is the old one'; fi
# A git that was killed leaves its lock.
: >"$to/.git/index.lock"
works 'after a killed git'

# ---- nothing of others is lost ----
rm -rf "$to"
mkdir "$to" && echo mine >"$to/file"
fails "a folder that is somebody's" "is not this script's"
if [ "$(cat "$to/file")" = mine ]; then ok 'and stays as it is'; else bad 'and was changed'; fi

printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
