#!/usr/bin/env bash
# What each kernel service costs in instructions: builds and runs the images of the package `costs` in
# QEMU and compares what they print with the figures in costs/golden, which are exact.
#
#   scripts/costs.sh [OPTION...] [KERNEL...]
#
#   KERNEL      bundled, upstream; without any: bundled, and upstream where there are sources
#   --refresh   writes costs/golden and docs/costs.md instead of comparing
#   --docs      only checks that docs/costs.md has the figures of costs/golden
#
# Figures belong to a compiler: with another rustc or gcc than those named in a golden file its figures
# are not compared, and a line says so. Exits with 0 if all is equal, with 77 if a kernel's figures were not compared.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

docs=0 arguments=()
for arg; do
  if [ "$arg" = --docs ]; then docs=1; else arguments+=("$arg"); fi
done
golden_options "${arguments[@]}"

# generated TABLE: the rows between the markers of docs/costs.md, from the golden files.
generated() {
  case $1 in
    services)
      printf '| instructions | upstream, unchecked C | checked C | safe Rust | bundled, unchecked C | checked C | safe Rust | limit | above it |\n'
      printf '|---|---|---|---|---|---|---|---|---|\n'
      awk -F ' *[|] *' '
        FILENAME ~ /golden/ { split($0, f, " "); if (f[1] == "COST") { key = FILENAME ~ /upstream/ ? "u" : "b"; value[key, f[2]] = f[3] " | " f[4] " | " f[5] }; next }
        /^#/ || NF < 3 { next }
        {
          split(value["b", $1], v, " [|] "); above = ""
          split("unchecked C,checked C,Rust", way, ",")
          for (i = 1; i <= 3 && $2 != "-"; i++) if (v[i] + 0 > $2 + 0) above = above (above == "" ? "" : ", ") way[i] " +" (v[i] - $2)
          printf "| %s | %s | %s | %s | %s |\n", $3, value["u", $1], value["b", $1], $2 == "-" ? "" : $2, above
        }' costs/golden/upstream.txt costs/golden/bundled.txt costs/rows.txt
      ;;
    thread_metric)
      printf '| Thread-Metric test, instructions a counted event | upstream | bundled | limit | above it |\n|---|---|---|---|---|\n'
      awk -F ' *[|] *' '
        FILENAME ~ /golden/ { split($0, f, " "); if (f[1] == "METRIC") { key = FILENAME ~ /upstream/ ? "u" : "b"; value[key, f[2]] = f[3] }; next }
        /^#/ || NF < 3 { next }
        {
          v = value["b", $1]; above = ($2 != "-" && v + 0 > $2 + 0) ? sprintf("+%.1f", v - $2) : ""
          printf "| %s | %s | %s | %s | %s |\n", $3, value["u", $1], v, $2 == "-" ? "" : $2, above
        }' costs/golden/upstream.txt costs/golden/bundled.txt costs/thread_metric.txt
      ;;
  esac
}

# with_tables FILE: the file with the generated tables in place.
with_tables() {
  local line table=''
  while IFS= read -r line; do
    case $line in
      '<!-- '*' begins -->')
        printf '%s\n' "$line"
        table=${line#<!-- } table=${table% begins -->}
        generated "$table"
        ;;
      '<!-- '*' ends -->') table='' && printf '%s\n' "$line" ;;
      *) [ -n "$table" ] || printf '%s\n' "$line" ;;
    esac
  done <"$1"
}

for table in services thread_metric; do
  [ "$(grep -cxE "<!-- $table (begins|ends) -->" docs/costs.md)" = 2 ] || die "docs/costs.md has no place for the table $table"
done

failed=0 other=0
out=$CARGO_TARGET_DIR/costs
mkdir -p "$out"
if [ "$docs" = 0 ]; then
  # shellcheck disable=SC2119 # no arguments meant
  build_txbench --quiet
  for kernel in "${kernels[@]}"; do
    # shellcheck disable=SC2046 # several words
    fw_cargo build --quiet --release $(fw_features "$kernel" costs) || die "the images do not build on the $kernel kernel, see above"
    seen=$out/$kernel.txt golden=costs/golden/$kernel.txt
    : >"$seen"
    for image in service_table thread_metric; do
      "$TXBENCH" run "$(fw_dir release)/$image" --timeout 120 --expect 'COSTS ok' --log "$out/$image-$kernel.uart" >"$out/$image-$kernel.log" 2>&1 ||
        { cat "$out/$image-$kernel.log"; die "$image failed on the $kernel kernel"; }
      grep -aE '^(BUILD|COST|METRIC) ' "$out/$image-$kernel.uart" | tr -d '\r' >>"$seen"
    done
    sort -u -o "$out/build" <(grep '^BUILD ' "$seen")
    { cat "$out/build"; grep -v '^BUILD ' "$seen"; } >"$out/sorted" && mv "$out/sorted" "$seen"
    if [ "$refresh" = 1 ]; then
      cp "$seen" "$golden"
      say "$golden: $(grep -cE '^(COST|METRIC) ' "$golden") figures"
    elif ! cmp -s <(grep -E '^BUILD (kernel|image) ' "$seen") <(grep -E '^BUILD (kernel|image) ' "$golden"); then
      say "$kernel kernel: not compared, the figures in $golden are those of another compiler:"
      diff <(grep '^BUILD ' "$golden") <(grep '^BUILD ' "$seen") || true
      other=77
    elif diff "$golden" "$seen"; then
      say "$kernel kernel: $(grep -cE '^(COST|METRIC) ' "$seen") figures, all as in $golden"
    else
      say "$kernel kernel: figures differ from $golden (< golden, > now); if that is meant: scripts/costs.sh --refresh"
      failed=1
    fi
  done
fi

if [ "$refresh" = 1 ]; then
  with_tables docs/costs.md >"$out/costs.md" && cp "$out/costs.md" docs/costs.md
elif diff docs/costs.md <(with_tables docs/costs.md); then
  say 'docs/costs.md has the figures of costs/golden'
else
  say 'docs/costs.md differs from costs/golden: scripts/costs.sh --refresh'
  failed=1
fi
[ "$failed" = 0 ] || exit 1
exit "$other"
