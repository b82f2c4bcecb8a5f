#!/usr/bin/env bash
# Loads an image into the S32Z280-594EVB through GDB and the vendor's debug server, runs it and keeps what it prints.
#
#   scripts/flash.sh [ELF] [OPTION...]
#
#   ELF                 the image (default: what `scripts/build.sh --board s32z280` builds)
#   --server HOST:PORT  the debug server's GDB port (default localhost:45000)
#   --connect FILE      GDB commands that connect to the core and stop it, instead of `target remote HOST:PORT`: the
#                       vendor's probe wants its Python script for that, see docs/s32z280.md
#   --serial DEVICE     the board's USB serial device, jumper J248 set (default /dev/ttyUSB0)
#   --log FILE          where the UART's bytes go (default target/s32z280.uart); an older file is replaced
#   --seconds N         limit for the run (default 120)
#   --gdb NAME          the debugger (default gdb-multiarch, else arm-none-eabi-gdb)
#   --boot-at-el1       the image was built with boot-at-el1; the monitor must already be there
#   --dry-run           prints every step, touches nothing
#
# Ends when the image has printed its last line or the limit is over; then halts the core and prints the boot record,
# which says how far a silent board got, and the tables of what was measured. Exits with 0 only if the image ended by
# itself with status 0. docs/s32z280.md has the wiring, the expected first lines, and what to do when nothing comes.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

elf='' server=localhost:45000 serial=/dev/ttyUSB0 connect='' log=$CARGO_TARGET_DIR/s32z280.uart seconds=120 gdb='' dry=0 check=()
need() { [ -n "${2-}" ] || die "$1 needs a value, see --help" 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --server) need "$@"; server=$2; shift ;;
    --connect) need "$@"; connect=$2; shift ;;
    --serial) need "$@"; serial=$2; shift ;;
    --log) need "$@"; log=$2; shift ;;
    --seconds) need "$@"; seconds=$2; shift ;;
    --gdb) need "$@"; gdb=$2; shift ;;
    --boot-at-el1) check+=(--boot-at-el1) ;;
    --dry-run) dry=1 ;;
    -h | --help) help; exit 0 ;;
    -*) die "unknown option $1, see --help" 2 ;;
    *) [ -z "$elf" ] || die "one image at a time, not $elf and $1" 2; elf=$1 ;;
  esac
  shift
done
[[ $seconds =~ ^[1-9][0-9]{0,4}$ ]] || die "--seconds takes a number from 1 to 99999, not '$seconds'" 2
[[ $server =~ ^[^:]+:[1-9][0-9]{0,4}$ ]] || die "--server takes HOST:PORT, not '$server'" 2
[ -n "$elf" ] || elf=$CARGO_TARGET_DIR/images/demo-s32z280-bundled-release.elf
[ -f "$elf" ] || die "no image $elf: build it with scripts/build.sh --board s32z280"

[ -z "$connect" ] || [ -f "$connect" ] || die "there is no file $connect of GDB commands: name another with --connect"
if [ -n "$connect" ]; then attach="source $connect" where="by $connect"; else attach="target remote $server" where="at $server"; fi

# The addresses: start of code memory, where reset leads (T32 code; PC takes the even address, since the link cannot write
# CPSR), MDM_AP CONTROL2 with core 0's external debug request in bit 16, and the boot record.
entry=0x79900000 control2=0x4dc11044 record=0x31780000
# Mode and T bit that the core must be in: Hyp mode and T32 state as reset leaves it, since PC is all that is set; a guest
# image wants SVC mode and A32 state.
state=0x3a
[ "${#check[@]}" = 0 ] || state=0x13
commands=(
  'set pagination off'
  'set confirm off'
  'set print elements 448'
  'set mem inaccessible-by-default off'
  'set remotetimeout 10'
  'set tcp connect-timeout 5'
  "$attach"
  'echo flash: connected\n'
  "if (\$cpsr & 0x3f) != $state"
  "  printf \"flash: state %#x\\n\", \$cpsr"
  '  quit 1'
  'end'
  "set {unsigned int}$control2 = {unsigned int}$control2 & ~0x10000"
  "if {unsigned int}$control2 & 0x10000"
  '  echo flash: stuck\n'
  '  quit 1'
  'end'
  'echo flash: loading\n'
  'load'
  'compare-sections .text'
  'compare-sections .rodata'
  "set \$pc = $entry"
  'echo flash: started\n'
  'continue'
  'echo flash: halted\n'
  'info registers pc cpsr'
  "x/16xw $record"
  "x/s $record + 64"
  'echo flash: done\n'
)

if [ "$dry" = 1 ]; then
  echo "check   txbench image $elf --board s32z280 ${check[*]}"
  echo "serial  stty -F $serial 115200 cs8 -parenb -cstopb -crtscts raw -echo"
  echo "serial  cat $serial >$log, for $seconds s at most"
  for command in "${commands[@]}"; do
    [ "$command" != 'echo flash: halted\n' ] ||
      echo "        until the image ends ('exit status' or DONE) or $seconds s are over, then interrupt"
    echo "gdb     $command"
  done
  echo "then    txbench parse $log"
  exit 0
fi

if [ -z "$gdb" ]; then
  for name in gdb-multiarch arm-none-eabi-gdb; do
    if command -v "$name" >/dev/null; then gdb=$name; break; fi
  done
  [ -n "$gdb" ] || die 'neither gdb-multiarch nor arm-none-eabi-gdb is there: install one, or name one with --gdb'
fi
command -v "$gdb" >/dev/null || die "there is no debugger $gdb: install it, or name another with --gdb"
[ -e "$serial" ] || die "there is no serial device $serial: plug in the board's USB cable, or name the device with --serial"
[ -c "$serial" ] || die "$serial is no serial device: name the board's with --serial"
if ! { [ -r "$serial" ] && [ -w "$serial" ]; }; then
  die "no permission to use $serial: join the group that owns it (often dialout)"
fi
find_tools || [ -n "$HOST_BIN" ] || die "no Rust $MSRV or newer for this machine: run scripts/setup.sh"
if [ -z "${TXBENCH-}" ]; then build_txbench --quiet; fi
if ! checked=$("$TXBENCH" image "$elf" --board s32z280 "${check[@]}" 2>&1); then
  printf '%s\n' "$checked" >&2
  die "$elf is not fit for this board, see above: build it with scripts/build.sh --board s32z280"
fi

folder=$(mktemp -d)
capture='' debugger=''
# Ends what this script started, and nothing else.
# shellcheck disable=SC2317 # called by trap
finish() {
  local pid
  for pid in $capture $debugger; do kill "$pid" 2>/dev/null || true; done
  # A debugger that waits for its server may not listen.
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    if [ -z "$debugger" ] || ! kill -0 "$debugger" 2>/dev/null; then break; fi
    sleep 0.2
  done
  if [ -n "$debugger" ]; then kill -9 "$debugger" 2>/dev/null || true; fi
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT TERM

printf '%s\n' "${commands[@]}" >"$folder/commands"
mkdir -p "$(dirname "$log")"
: >"$log" || die "cannot write $log: name another file with --log"
timeout 10 stty -F "$serial" 115200 cs8 -parenb -cstopb -crtscts raw -echo 2>"$folder/stty" ||
  die "cannot set $serial to 115200 8N1: $(head -n 1 "$folder/stty")"
timeout "$((seconds + 60))" cat "$serial" >"$log" 2>/dev/null &
capture=$!

# GDB in a process group of its own, so that one interrupt, and no second, reaches it: the first halts the core, a second
# gives up. Its limits are those of the waits below; finish ends it.
output=$folder/gdb
set -m
"$gdb" -nx -q -batch -x "$folder/commands" "$elf" >"$output" 2>&1 </dev/null &
debugger=$!
set +m

# reached TEXT: GDB has printed the line.
reached() { grep -q "^flash: $1" "$output"; }
# wait_for TEXT SECONDS: until GDB says so; fails when it ended or the time is over.
wait_for() {
  local until=$((SECONDS + $2))
  until reached "$1"; do
    if ! kill -0 "$debugger" 2>/dev/null; then reached "$1"; return; fi
    [ "$SECONDS" -lt "$until" ] || return 1
    sleep 0.2
  done
}
last_words() { grep -v '^flash: ' "$output" | grep -v '^$' | tail -n 1; }

if ! wait_for connected 30; then
  case $(cat "$output") in
    *refused* | *'timed out'* | *'No route'* | *'not known'*)
      die "no debug server $where: start it with the probe connected, or name its GDB port with --server ($(last_words))"
      ;;
    *) die "what answers $where is no GDB server: the vendor's GTA has it, often at 45000; CCS, often at 41475, is the probe's ($(last_words))" ;;
  esac
fi
say "connected $where"
if ! wait_for loading 30; then
  reached state && die "the core is not as reset leaves it: CPSR $(sed -n 's/^flash: state //p' "$output"), low bits $state wanted; reset the board first"
  reached stuck && die "the external debug request at $control2 stays set: the core would not run"
  die "the external debug request at $control2 cannot be cleared: $(last_words)"
fi
wait_for started 120 || die "the image cannot be loaded: $(last_words)"
if grep -q 'MIS-MATCHED' "$output"; then
  die 'what was loaded does not read back: power-cycle the board and start the debug server again'
fi
say "loaded and started; $log receives the UART, for $seconds s at most"

ended() { grep -aqE '^(exit status [0-9]+|DONE )' "$log"; }
until=$((SECONDS + seconds))
while ! ended && [ "$SECONDS" -lt "$until" ] && kill -0 "$debugger" 2>/dev/null; do sleep 0.2; done
sleep 0.5 # the line after the last
reached halted || kill -INT "$debugger" 2>/dev/null || true
wait_for 'done' 20 || say "the core does not halt for its boot record: $(last_words)"

echo
say "$(wc -c <"$log") bytes came from the UART"
# The record: words 1 stage, 5 exit status, 6 vector, 7 instruction, 9 syndrome, 10 fault address, 11 bytes of text.
mapfile -t words < <(sed -n '/^flash: halted/,/^flash: done/p' "$output" | grep -iE '^0x3178[0-9a-f]{4}[^:]*:.*0x' |
  sed 's/^[^:]*://' | grep -oE '0x[0-9a-f]+' | head -n 16)
status=1
if [ "${#words[@]}" != 16 ]; then
  say 'no boot record could be read'
elif [ $((words[0])) != $((0x544f4f42)) ]; then
  say "no boot record at $record: the image was never entered (is the external debug request still set? is the PC even?)"
else
  stages=(nothing 'entered' 'EL2 set up' 'EL1' 'vectors and floating point' 'statics' 'MPU and caches' 'console'
    'memories written' 'interrupt controller' 'main' 'tick')
  stage=$((words[1]))
  say "boot record: stage $stage (${stages[stage]-unknown}), entered with CPSR ${words[2]}, SCTLR ${words[3]}, HSCTLR ${words[4]}"
  if [ $((words[6])) != 0 ]; then
    say "boot record: exception, vector number $((words[6])), at ${words[7]}, syndrome ${words[9]}, address ${words[10]}"
  fi
  if [ $((words[11])) != 0 ]; then
    say "boot record: printed without a console: $(sed -n '/^flash: halted/,/^flash: done/p' "$output" | grep '"' | sed 's/^[^"]*//')"
  fi
  if [ $((words[5])) = 0 ]; then
    say 'boot record: the image has not ended by itself'
  else
    say "boot record: ended with exit status $((words[5] & 0xff))"
    [ $((words[5])) != $((0x100)) ] || status=0
  fi
fi
sed -n '/^flash: halted/,/^flash: done/p' "$output" | grep -E '^(pc|cpsr) ' || true
if [ -s "$log" ]; then
  "$TXBENCH" parse "$log" || status=1
else
  say 'nothing came from the UART: see docs/s32z280.md, "When nothing comes"'
  status=1
fi
exit "$status"
