#!/usr/bin/env bash
# Tests scripts/flash.sh without a board: QEMU's GDB server stands for the vendor's, its RAM for the board's memories and
# a pseudo terminal for the serial device.
#
#   scripts/test-flash.sh WITH_DEVICES BOARD_IMAGE
#
#   WITH_DEVICES   an image of s32z280 with qemu-devices: it runs to its end
#   BOARD_IMAGE    an image of s32z280: finds no console there, as on a board whose console is not clocked
#
# The last line is `N passed, N failed`; exits with 0 only if nothing failed.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
case ${1-} in -h | --help) help; exit 0 ;; esac
[ $# = 2 ] || die 'two images are needed, see --help' 2
with_devices=$1 board_image=$2
flash=$ROOT/scripts/flash.sh
folder=$(mktemp -d)
qemu='' server=''
# shellcheck disable=SC2317 # called by trap
finish() {
  [ -z "$qemu" ] || kill "$qemu" 2>/dev/null || true
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT

# board IMAGE: a halted machine that stands for the board; its serial device is in `serial`.
board() {
  [ -z "$qemu" ] || kill "$qemu" 2>/dev/null || true
  [ -z "$qemu" ] || wait "$qemu" 2>/dev/null || true
  # The image only gives the core its state at reset: T32. What runs is what flash.sh loads.
  timeout -k 5 200 qemu-system-arm -M mps3-an536 -smp 1 -display none -monitor none -icount shift=0,sleep=off \
    -global cortex-r52-arm-cpu.cntfrq=1000000000 -serial pty -S -gdb tcp:127.0.0.1:41976 -kernel "$1" >"$folder/qemu" 2>&1 &
  qemu=$!
  serial=''
  for _ in $(seq 100); do
    serial=$(sed -n 's/.*redirected to \([^ ]*\).*/\1/p' "$folder/qemu")
    [ -z "$serial" ] || return 0
    sleep 0.1
  done
  die "QEMU does not start: $(head -n 1 "$folder/qemu")"
}

# expect CODE NAME TEXT... -- COMMAND...: ends with CODE and prints each text.
expect() {
  local code=$1 name=$2 texts=() got=0 good=1 text
  shift 2
  while [ "$1" != -- ]; do texts+=("$1"); shift; done
  shift
  timeout -k 5 150 "$@" >"$folder/out" 2>&1 </dev/null || got=$?
  [ "$got" = "$code" ] || { good=0; echo "$name: exit code $got, not $code"; }
  for text in "${texts[@]}"; do grep -qF -- "$text" "$folder/out" || { good=0; echo "$name: does not say: $text"; }; done
  if [ "$good" = 1 ]; then
    passed=$((passed + 1)); echo "$name: ok"
  else
    failed=$((failed + 1)); sed 's/^/    /' "$folder/out" | tail -n 20
  fi
}

port=127.0.0.1:41976
expect 0 'a dry run prints every step' "target remote $port" "= 0x79900000" "0x4dc11044 & ~0x10000" 'compare-sections .text' \
  -- "$flash" "$with_devices" --dry-run --server "$port"
expect 1 'no image' 'build it with scripts/build.sh' -- "$flash" "$folder/none.elf"
expect 1 'no serial device' 'there is no serial device' -- "$flash" "$with_devices" --serial "$folder/tty"
expect 1 'no debugger' 'there is no debugger none-gdb' -- "$flash" "$with_devices" --gdb none-gdb
expect 1 'no commands to connect with' 'there is no file' -- "$flash" "$with_devices" --connect "$folder/none.gdb"
expect 2 'a bad port' '--server takes HOST:PORT' -- "$flash" "$with_devices" --server here
board "$with_devices"
expect 1 'another file' 'is not fit for this board' -- "$flash" "$flash" --serial "$serial" --server "$port"
expect 1 'no server' 'no debug server at 127.0.0.1:9' -- "$flash" "$with_devices" --serial "$serial" --server 127.0.0.1:9
if command -v python3 >/dev/null; then
  timeout 60 python3 -c '
import socket, time
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("127.0.0.1", 41977)); s.listen()
while True:
    c, _ = s.accept(); c.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"); time.sleep(1); c.close()' &
  server=$!
  sleep 1
  expect 1 'another port' 'what answers at 127.0.0.1:41977 is no GDB server' \
    -- "$flash" "$with_devices" --serial "$serial" --server 127.0.0.1:41977
fi
expect 0 'loads, runs, captures' 'loaded and started' 'stage 11 (tick)' 'ended with exit status 0' 'context_switch' \
  -- "$flash" "$with_devices" --serial "$serial" --server "$port" --log "$folder/uart" --seconds 60
expect 1 'a core that is not reset' 'the core is not as reset leaves it' \
  -- "$flash" "$with_devices" --serial "$serial" --server "$port" --log "$folder/uart"
board "$board_image"
echo "target remote $port" >"$folder/connect.gdb"
expect 1 'a silent board explains itself' 'stage 6 (MPU and caches)' 'LINFlexD does not enter initialisation mode' \
  'ended with exit status 102' 'nothing came from the UART' \
  -- "$flash" "$board_image" --serial "$serial" --connect "$folder/connect.gdb" --log "$folder/uart" --seconds 8

echo
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
