#!/usr/bin/env bash
# clang-tidy 19 over the project's sources.
#   scripts/clang-tidy.sh          what includes no MLIR: runtime, tools, lib/Planning (two minutes)
#   scripts/clang-tidy.sh --all    the compiler too (ten minutes)
set -euo pipefail
cd "$(dirname "$0")/.."
if [ ! -f build/compile_commands.json ]; then
  cmake --preset release -Wno-dev > /dev/null
fi
cmake --build build --target vdnn_schedule_header > /dev/null
paths=('runtime/*.cpp' 'lib/Planning/*.cpp')
if [ "${1:-}" = --all ]; then
  paths+=('lib/*.cpp' 'tools/*.cpp')
  cmake --build build > /dev/null
fi
git ls-files "${paths[@]}" | sort -u | xargs -P "$(nproc)" -n 4 clang-tidy-19 -p build --quiet --warnings-as-errors='*' 2> /dev/null
