#!/bin/sh
# The hot paths beside those of straight C, built here, and of cudarc. A contender that cannot be had is named.
set -u
results=${1:?usage: hot_paths.sh RESULTS}
cuda=${CUDA_HOME:-/usr/local/cuda}
program=$(mktemp -d)/hot_paths_c || exit 1
trap 'rm -rf "$(dirname "$program")"' EXIT

set -- --seconds 100
if cc -O2 -I "$cuda/include" hot_paths.c -L "$cuda/lib64/stubs" -lcuda -lpthread -o "$program"; then
    set -- "$@" "C=$program fill.ptx"
else
    echo "straight C: did not run: it needs cc, $cuda/include and $cuda/lib64/stubs"
fi
./hot_paths "$@" "cudarc=./hot_paths_cudarc" >"$results/hot_paths" 2>&1
code=$?
cat "$results/hot_paths"
exit $code
