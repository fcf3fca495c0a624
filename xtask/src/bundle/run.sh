#!/bin/sh
# Runs every program of this folder on the machine's GPU, each under a time limit, and prints a short table last.
# Exit status: 0 if everything ran and passed, 1 if anything failed or did not run.
set -u
here=$(cd "$(dirname "$0")" && pwd)
results=${1:?usage: run.sh RESULTS, a folder for the logs}
mkdir -p "$results" || exit 1
results=$(cd "$results" && pwd)
cd "$here" || exit 1

failed=0
table=""
while read -r seconds name; do
    echo "== $name (at most $seconds s)"
    # Benchmarks, too, are told that they are not a test run.
    CUDA_HOSTFN_RESULTS="$results" timeout --kill-after=10 "$seconds" "./$name" --bench >"$results/$name.log" 2>&1
    code=$?
    passed=$(sed -n 's/^test result: .* \([0-9]*\) passed;.*/\1/p' "$results/$name.log" | tail -n 1)
    ignored=$(sed -n 's/^test result: .* \([0-9]*\) ignored;.*/\1/p' "$results/$name.log" | tail -n 1)
    verdict=passed
    [ "${ignored:-0}" = 0 ] || verdict="$ignored did not run"
    [ "$code" = 0 ] || verdict="failed ($code)"
    [ "$code" != 124 ] && [ "$code" != 137 ] || verdict="did not end in $seconds s"
    if [ "$verdict" != passed ]; then
        failed=1
        tail -n 40 "$results/$name.log"
    fi
    table="$table$(printf '%-24s %-24s %s' "$name" "$verdict" "${passed:-}")
"
done <programs

nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader >"$results/machine" 2>/dev/null
printf '\n%-24s %-24s %s\n%s' program verdict "tests passed" "$table" | tee "$results/summary"
exit $failed
