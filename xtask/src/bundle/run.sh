#!/bin/sh
# Runs every program of this folder on the machine's GPU, each under a time limit, and prints a short table last.
# RESULTS gets `log` (what they printed), `summary` (the table) and what programs write there themselves.
# Exit status: 0 if everything ran and passed, 1 if anything failed or did not run.
set -u
here=$(cd "$(dirname "$0")" && pwd)
results=${1:?usage: run.sh RESULTS, a folder for what comes of it}
mkdir -p "$results" || exit 1
results=$(cd "$results" && pwd)
cd "$here" || exit 1
output=$(mktemp) || exit 1
trap 'rm -f "$output"' EXIT

count() {
    sed -n "s/^test result: .* \\([0-9]*\\) $1;.*/\\1/p" "$output" | tail -n 1
}

failed=0
table=""
: >"$results/log"
while read -r seconds name arguments; do
    arguments=$(echo "$arguments" | sed "s|RESULTS|$results|g")
    # shellcheck disable=SC2086 # none or several
    timeout --kill-after=10 "$seconds" "./$name" $arguments >"$output" 2>&1
    code=$?
    passed=$(count passed)
    ignored=$(count ignored)
    verdict=passed
    [ "${ignored:-0}" = 0 ] || verdict="$ignored did not run"
    [ "$code" = 0 ] || verdict="failed ($code)"
    [ "$code" != 124 ] && [ "$code" != 137 ] || verdict="did not end in $seconds s"
    { echo "== $name"; cat "$output"; } >>"$results/log"
    if [ "$verdict" = passed ]; then
        echo "$name: passed"
    else
        failed=1
        echo "$name: $verdict"
        tail -n 40 "$output"
    fi
    table="$table$(printf '%-28s %-24s %s' "$name" "$verdict" "${passed:-}")
"
done <programs

{
    nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>/dev/null
    printf '%-28s %-24s %s\n%s' program verdict "tests passed" "$table"
} >"$results/summary"
echo
cat "$results/summary"
exit $failed
