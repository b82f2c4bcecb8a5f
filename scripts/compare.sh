#!/usr/bin/env bash
# Compares safe Rust, its C twin and upstream's own demo, on both kernels, in one run.
#
#   scripts/compare.sh [--out FOLDER]
#
# Prints a table in Markdown and leaves it in FOLDER/compare.md (default target/compare), the same
# figures as JSON in FOLDER/compare.json and every image's output beside them. Needs upstream's
# sources (THREADX_DIR or ./threadx-src) for the upstream kernel and for its demo; without them it
# compares what is there and says so. Exits with 0 only if every image passed its self-checks.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

out=$CARGO_TARGET_DIR/compare
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=${2-}; shift $(($# > 1 ? 2 : 1)) ;;
    --out=*) out=${1#*=}; shift ;;
    -h | --help) help; exit 0 ;;
    *) die "unknown option $1, see --help" 2 ;;
  esac
done
[ -n "$out" ] || die '--out needs a folder' 2
if [[ $out == "$CARGO_TARGET_DIR"/* ]]; then mkdir -p "$out"; else own_folder "$out" .compare.sh compare.json; fi
out=$(cd "$out" && pwd)

say_ignored
"$ROOT/scripts/setup.sh" --upstream
find_tools
cd "$ROOT"
build_txbench --quiet
kernels=(bundled)
demo_source=''
if sources=$(upstream_sources); then
  check_sources "$sources"
  kernels+=(upstream)
  file=$sources/ports/cortex_r52/gnu/example_build/s32z280_evb/demo_s32z280.c
  if [ -f "$file" ]; then demo_source=$file; else say "upstream's demo is left out: $sources does not have it"; fi
else
  say 'upstream kernel and demo are left out: neither THREADX_DIR nor ./threadx-src (scripts/get-threadx.sh)'
fi

failed=0
rows=$out/rows.tsv sizes=$out/sizes.tsv
: >"$rows"
: >"$sizes"

# image KERNEL PACKAGE [CARGO-OPTION...]: builds it.
image() {
  local kernel=$1 package=$2
  shift 2
  # shellcheck disable=SC2046 # several words
  fw_cargo build --quiet --release $(fw_features "$kernel" "$package") "$@" || die "$package on the $kernel kernel does not build, see above"
}

# run NAME ELF [OPTION...]: its output goes to $out/NAME.uart; options are txbench's.
run() {
  "$TXBENCH" run "${@:2}" --timeout 120 --log "$out/$1.uart" >"$out/$1.log" 2>&1 || {
    failed=1
    say "$1: $(tail -n 1 "$out/$1.log")"
  }
}

# Bytes of code: of the image, and of the kernel in it. A symbol reaches to the next one; assembly
# has no sizes of its own.
measure_code() {
  local kernel=$1 elf=$2 pattern
  case $kernel in
    upstream) pattern='^(_tx_|_txe_|_txr_|__tx_|tx_thread_|threadx_sys_)' ;;
    *) pattern='^_tx|6kernel' ;;
  esac
  arm-none-eabi-nm -n "$elf" | awk -v kernel="$kernel" -v pattern="$pattern" '
    function value(hex,   i, n) { n = 0; for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1; return n }
    $3 == "__stext" { start = value($1) }
    # Behind it the section is filled up to what the memory protection can tell apart.
    $3 == "__etext_used" { end = value($1) }
    $2 ~ /^[tTwW]$/ {
      at = value($1)
      if (name != "" && name ~ pattern) bytes += at - last
      last = at; name = ($3 ~ /^__[es]text/) ? "" : $3
    }
    END { printf "%s\t%d\t%d\n", kernel, bytes, end - start }' >>"$sizes"
}

# The records of a run as rows: code, kernel, bench, stack, cache, n, excluded, min, mean, max, unit, name.
# Of the measurements that the C twin and upstream's demo have too.
records() {
  local kernel=$1
  sed -n 's/.*RECORD //p' "$out/$2.uart" | tr -d '\r' | awk -v kernel="$kernel" '
    function text(key) { return match($0, "\"" key "\":\"[^\"]*\"") ? substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 5) : "" }
    function number(key) { return match($0, "\"" key "\":[0-9]+") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : "" }
    text("bench") ~ /^(context_switch|deep_stack)$/ && text("cache") ~ /^(cold|warm)$/ && number("placement") == "" {
      code = text("language") == "c" ? (text("checks") == "off" ? "C twin, checks off" : "C twin") : "safe Rust"
      if (text("variant") == "inline") code = code ", inlined"
      printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", code, kernel, text("bench"), text("stack"), text("cache"),
        number("n"), number("excluded"), number("min"), number("mean"), number("max"), text("unit"), text("kernel")
    }' >>"$rows"
}

# What upstream's demo prints, as rows of the same form.
demo_rows() {
  local kernel=$1 unit=$3
  tr -d '\r' <"$out/$2.uart" | awk -v kernel="$kernel" -v unit="$unit" '
    /^kernel  / { sub(/^kernel +/, ""); name = $0 }
    /^stack-heavy work/ { bench = "deep_stack" }
    /^context switch/ { bench = "context_switch" }
    /^ *stacks? in / && /min/ {
      stack = $3; sub(/:.*/, "", stack)
      for (i = 1; i <= NF; i++) {
        if ($i == "min") min = $(i + 1)
        if ($i == "mean") mean = $(i + 1)
        if ($i == "max") max = $(i + 1)
        if ($i == "of") { excluded = $(i - 1); all = $(i + 1) }
      }
      printf "upstream'\''s demo\t%s\t%s\t%s\tcold\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", kernel, bench, stack, all - excluded, excluded, min, mean, max, unit, name
    }' >>"$rows"
}

for kernel in "${kernels[@]}"; do
  say "building and running on the $kernel kernel"
  # The Rust image alone says how large it is; the one with the twin measures both.
  image "$kernel" demo
  measure_code "$kernel" "$(fw_dir release)/demo"
  image "$kernel" demo --features demo/twin
  run "demo-$kernel" "$(fw_dir release)/demo" --expect 'DONE ok'
  records "$kernel" "demo-$kernel"
  if [ -n "$demo_source" ]; then
    image "$kernel" upstream-demo
    # It prints no records of ours.
    run "upstream-demo-$kernel" "$(fw_dir release)/upstream-demo" --expect-exit 0 --expect 'PASS threads, tick and preemption all verified'
    demo_rows "$kernel" "upstream-demo-$kernel" "$(cut -f 11 "$rows" | head -n 1)"
  fi
done
[ -s "$rows" ] || die "no image printed a result, see $out"

# Ratios are of the smallest samples, to the C twin on the same kernel.
awk -F '\t' '
  function ratio(of, base) { return base == "" ? "" : sprintf("%.2f", of / base) }
  FNR == NR { if ($1 ~ /^C twin/) base[$1, $2, $3, $4, $5] = $8; next }
  FNR == 1 {
    print "| code | kernel | bench | stack | cache | n | excluded | min | mean | max | / C twin | / C twin, checks off |"
    print "|---|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|"
  }
  {
    printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", $1, $12, $3, $4, $5, $6, $7, $8, $9, $10,
      ratio($8, base["C twin", $2, $3, $4, $5]), ratio($8, base["C twin, checks off", $2, $3, $4, $5])
    unit = $11
  }
  END { printf "\nAll figures in %s.\n", unit; if (unit == "instructions") print "Instructions counted in an emulator are not time." }
' "$rows" "$rows" >"$out/compare.md"
awk -F '\t' '
  BEGIN { print "\n| kernel | code of the kernel in the demo, bytes | code of the demo, bytes |\n|---|---:|---:|" }
  { printf "| %s | %s | %s |\n", $1, $2, $3 }
' "$sizes" >>"$out/compare.md"

{
  printf '{"schema":1,"results":['
  awk -F '\t' '
    function text(s) { gsub(/["\\]/, "\\\\&", s); return "\"" s "\"" }
    FNR == NR { if ($1 ~ /^C twin/) base[$1, $2, $3, $4, $5] = $8; next }
    {
      printf "%s{\"code\":%s,\"kernel\":%s,\"bench\":%s,\"stack\":%s,\"cache\":%s,\"n\":%d,\"excluded\":%d,\"min\":%d,\"mean\":%d,\"max\":%d,\"unit\":%s",
        (FNR > 1 ? "," : ""), text($1), text($12), text($3), text($4), text($5), $6, $7, $8, $9, $10, text($11)
      twin = base["C twin", $2, $3, $4, $5]; off = base["C twin, checks off", $2, $3, $4, $5]
      if (twin != "") printf ",\"to_c\":%.4f", $8 / twin
      if (off != "") printf ",\"to_c_unchecked\":%.4f", $8 / off
      printf "}"
    }' "$rows" "$rows"
  printf '],"text":['
  awk -F '\t' '{ printf "%s{\"kernel\":\"%s\",\"kernel_text\":%d,\"image_text\":%d}", (FNR > 1 ? "," : ""), $1, $2, $3 }' "$sizes"
  printf ']}\n'
} >"$out/compare.json"

echo
cat "$out/compare.md"
echo
say "the same in $out/compare.md and compare.json"
[ "$failed" = 0 ] || die 'an image did not pass its self-checks, see above'
