#!/usr/bin/env bash
# Fetches the sources of Eclipse ThreadX that this project is built and tested with.
#
#   scripts/get-threadx.sh
#
# One pinned public commit of eclipse-threadx/threadx goes into ./threadx-src, which git ignores:
# without history, and of the tree only what the build reads. Run again after an interruption it goes
# on where it stopped; when everything is there it touches no network. THREADX_GIT names another
# place to fetch the commit from, THREADX_COMMIT another commit (all 40 digits), THREADX_LIMIT another
# limit than 600 seconds.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

# The kernel, its Cortex-R52 port with the S32Z280 example, the Cortex-R5 port for comparison, and the
# sample that runs everywhere.
COMMIT=${THREADX_COMMIT:-1f0f99a24aff459d1b24916cba288676ea93d6fb}
FOLDERS=(/common/ /ports/cortex_r52/gnu/ /ports/cortex_r5/gnu/ /samples/ /LICENSE.txt)
URL=${THREADX_GIT:-https://github.com/eclipse-threadx/threadx.git}
LIMIT=${THREADX_LIMIT:-600}
FOLDER=$ROOT/threadx-src

case ${1-} in
  '') ;;
  -h | --help) help; exit 0 ;;
  *) die "unknown option $1, see --help" 2 ;;
esac
[[ $LIMIT =~ ^[1-9][0-9]{0,5}$ ]] || die "THREADX_LIMIT=$LIMIT is not a number of seconds from 1 to 999999" 2
[[ $COMMIT =~ ^[0-9a-f]{40}$ ]] || die "THREADX_COMMIT=$COMMIT is not a commit of 40 hexadecimal digits" 2
command -v git >/dev/null || die 'git is missing: install it, or unpack the sources by hand and set THREADX_DIR'

# git in the folder and nowhere else, without questions on the terminal.
g() { GIT_TERMINAL_PROMPT=0 git -C "$FOLDER" --git-dir="$FOLDER/.git" --work-tree="$FOLDER" "$@"; }

# Everything there, of that commit, unchanged: git names content by its hash, so equal names prove it.
complete() {
  [ -d "$FOLDER/.git" ] && [ "$(g rev-parse --verify --quiet HEAD 2>/dev/null)" = "$COMMIT" ] &&
    [ "$(cat "$FOLDER/.git/info/sparse-checkout" 2>/dev/null)" = "$(printf '%s\n' "${FOLDERS[@]}")" ] &&
    [ -f "$FOLDER/common/inc/tx_api.h" ] && [ -d "$FOLDER/ports/cortex_r52/gnu/src" ] &&
    [ -z "$(g status --porcelain 2>/dev/null)" ]
}

if complete; then
  say "ready: $FOLDER holds ${COMMIT:0:12}"
  exit 0
fi
if [ -e "$FOLDER" ] && [ ! -d "$FOLDER/.git" ] && [ -n "$(ls -A "$FOLDER")" ]; then
  die "$FOLDER exists and is not this script's: move it away, or set THREADX_DIR to it"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# step COMMAND...: within the limit; what it printed is in the log.
deadline=$((SECONDS + LIMIT))
step() {
  local left=$((deadline - SECONDS))
  [ "$left" -gt 0 ] || return 124
  GIT_TERMINAL_PROMPT=0 timeout -k 10 "$left" git -C "$FOLDER" -c http.lowSpeedLimit=1000 -c http.lowSpeedTime=30 \
    -c advice.detachedHead=false "$@" >"$log" 2>&1 </dev/null
}

ways='run this again (it goes on), or set THREADX_DIR to a checkout, or use the bundled kernel (--kernel bundled)'
mkdir -p "$FOLDER"
# Repeating this repairs what an interruption left; so does removing the locks of a killed git.
git init --quiet "$FOLDER" >"$log" 2>&1 || die "cannot create $FOLDER: $(head -n 1 "$log")"
find "$FOLDER/.git" -maxdepth 1 -name '*.lock' -delete
g config remote.origin.url "$URL"
g config remote.origin.promisor true
g config remote.origin.partialclonefilter blob:none
g config core.sparseCheckout true
g config core.autocrlf false
printf '%s\n' "${FOLDERS[@]}" >"$FOLDER/.git/info/sparse-checkout"

say "fetching ${COMMIT:0:12} from $URL"
code=0
for attempt in 1 2 3; do
  code=0
  { step fetch --quiet --depth 1 --filter=blob:none origin "$COMMIT" && step checkout --quiet --force --detach "$COMMIT"; } || code=$?
  { [ "$code" != 0 ] && [ "$code" != 124 ]; } || break
  # Without a network another attempt changes nothing.
  ! grep -qiE 'could not resolve|unable to connect|failed to connect|could not connect|network is unreachable' "$log" || break
  say "attempt $attempt failed: $(head -n 1 "$log")"
done
case $code in
  0) ;;
  124 | 137) die "not finished within $LIMIT seconds: $ways" ;;
  *) die "cannot fetch the sources: $(grep -v '^$' "$log" | tail -n 1): $ways" ;;
esac
complete || die "$FOLDER does not hold commit $COMMIT unchanged: remove the folder and run this again"
say "ready: $FOLDER holds ${COMMIT:0:12}"
