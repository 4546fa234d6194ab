#!/usr/bin/env bash
# Passes all tests: format, tidy, build, unit with lit and conformance, clang-tidy, ONNX's node tests, end to end, sanitizers, fuzzers.
#   scripts/test.sh            everything
#   scripts/test.sh STAGE ...  some stages: format tidy build unit clang_tidy onnx e2e asan fuzz tsan
set -euo pipefail
cd "$(dirname "$0")/.."

stages=("$@")
[ ${#stages[@]} -gt 0 ] || stages=(format tidy build unit clang_tidy onnx e2e asan fuzz tsan)
jobs=$(nproc)

sources() { git ls-files '*.cpp' '*.h' '*.cu' '*.cuh'; }

stage_format() { sources | xargs clang-format-19 --dry-run --Werror; }

stage_build() {
  cmake --preset release -Wno-dev > /dev/null
  cmake --build --preset release
}

stage_tidy() {
  /usr/bin/python3 test/tidy/tidy_test.py
  /usr/bin/python3 test/tidy/tidy.py
}

# A few checks on lib/Planning and the runtime without its two backends; the rest by hand: scripts/clang_tidy.py --all.
stage_clang_tidy() { /usr/bin/python3 scripts/clang_tidy.py; }

stage_unit() { ctest --test-dir build --output-on-failure -j "$jobs"; }

stage_onnx() {
  /usr/bin/python3 test/onnx/run_node_tests.py --build-dir build
  /usr/bin/python3 test/onnx/light_models.py --build-dir build
}

stage_e2e() {
  for script in digits vgg16_titanx mutants hostile_files gradients; do
    echo "== test/e2e/$script.py"
    /usr/bin/python3 "test/e2e/$script.py" --build-dir build
  done
}

# The runtime under AddressSanitizer and UndefinedBehaviorSanitizer.
stage_asan() {
  local tests=(ScheduleTest FilesTest CheckTest ExecTest CInterfaceTest SimDeviceTest vdnn_conformance_cpu)
  cmake --preset asan -DVDNN_ENABLE_COMPILER=OFF -Wno-dev > /dev/null
  cmake --build --preset asan --target "${tests[@]}"
  UBSAN_OPTIONS=print_stacktrace=1 ctest --test-dir build-asan --output-on-failure -j "$jobs" -R "^($(IFS='|'; echo "${tests[*]}"))\$"
}

# The importer's tests and the fuzzers, under both sanitizers too; FUZZ_SECONDS for each fuzzer. That of .mlir files mostly tests MLIR's own parser, and is
# run by hand: test/fuzz/run.py mlir.
stage_fuzz() {
  cmake --preset fuzz -Wno-dev > /dev/null
  cmake --build --preset fuzz --target ImportTest fuzz-{vdnn,onnx,npy,safetensors,pb}
  # Why these options: test/fuzz/run.py.
  ASAN_OPTIONS=allow_user_poisoning=0:detect_container_overflow=0 ctest --test-dir build-fuzz --output-on-failure -R '^ImportTest$'
  /usr/bin/python3 test/fuzz/run.py --seconds "${FUZZ_SECONDS:-6}" vdnn onnx npy safetensors pb
}

# What runs on several threads: the streams of the cpu device, and the executor over them. Nothing else has threads, so the
# checker, the readers, the simulated device and the executor over a fake one are left to asan. libgomp is not built
# for ThreadSanitizer, so there is one compute thread.
stage_tsan() {
  cmake --preset tsan -Wno-dev > /dev/null
  cmake --build --preset tsan --target vdnn_race CInterfaceTest
  OMP_NUM_THREADS=1 ctest --test-dir build-tsan --output-on-failure -R '^(vdnn_race.*|CInterfaceTest)$'
}

for stage in "${stages[@]}"; do
  if ! declare -F "stage_$stage" > /dev/null; then
    echo "error: unknown stage '$stage'; the stages are at the top of $0" >&2
    exit 2
  fi
done
for stage in "${stages[@]}"; do
  echo "=== $stage"
  SECONDS=0
  "stage_$stage"
  echo "=== $stage: ${SECONDS} s"
done
