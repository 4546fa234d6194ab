#!/usr/bin/env bash
# Tests the CUDA backend on a machine with an NVIDIA GPU (sm_90); each stage takes less than nine minutes.
#   test/gpu/run.sh                        build in build-gpu/, then the stages conformance and sanitize; with plans, train and time too
#   test/gpu/run.sh STAGE ...              build, then some stages: conformance sanitize train time
#   test/gpu/run.sh --build-dir DIR ...    run what DIR holds already: binaries made on another machine will do
#   test/gpu/run.sh --plans DIR ...        plans for the stages train and time, from test/gpu/make_plans.py
# A stage that fails does not keep the others from running. The exit status is 0 if none failed.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=
plans=
stages=()
while [ $# -gt 0 ]; do
  case $1 in
    --build-dir)
      build=${2:?--build-dir needs a folder}
      shift ;;
    --plans)
      plans=${2:?--plans needs a folder}
      shift ;;
    -*)
      echo "error: unknown option '$1'; the options are at the top of $0" >&2
      exit 2 ;;
    *) stages+=("$1") ;;
  esac
  shift
done
[ ${#stages[@]} -gt 0 ] || stages=(conformance sanitize ${plans:+train time})
for stage in "${stages[@]}"; do
  case $stage in
    conformance | sanitize) ;;
    train | time)
      if [ -z "$plans" ]; then
        echo "error: the stage '$stage' needs plans; make them with test/gpu/make_plans.py and give the folder with --plans" >&2
        exit 2
      fi ;;
    *)
      echo "error: unknown stage '$stage'; the stages are at the top of $0" >&2
      exit 2 ;;
  esac
done
if [ -z "$build" ]; then
  build=build-gpu
  stages=(build "${stages[@]}")
fi
logs=$build/gpu-logs
mkdir -p "$logs"

# PyTorch brings a newer cuDNN than many toolkits; its libraries go first.
torch=$(python3 -c '
import glob, os, nvidia
print(":".join(sorted({os.path.dirname(file) for folder in nvidia.__path__ for file in glob.glob(folder + "/*/lib/*.so*")})))
' 2> /dev/null)
export LD_LIBRARY_PATH=$torch${torch:+:}/usr/local/cuda/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# The compiler and the cpu device are built where MLIR and oneDNN are.
stage_build() {
  local compiler=OFF cpu=OFF
  [ -d /usr/lib/llvm-19/lib/cmake/mlir ] && compiler=ON
  [ -e /usr/include/dnnl.h ] && cpu=ON
  if ! cmake -S . -B "$build" -G Ninja -Wno-dev -DVDNN_ENABLE_CUDA=ON \
    -DVDNN_ENABLE_COMPILER=$compiler -DVDNN_ENABLE_CPU=$cpu > "$logs/cmake.txt" 2>&1; then
    tail -n 20 "$logs/cmake.txt"
    echo "needed: CUDA with cuDNN, flatbuffers-compiler, libflatbuffers-dev, libcli11-dev, nlohmann-json3-dev, libgtest-dev;"
    echo "or build elsewhere and give the folder with --build-dir"
    return 1
  fi
  cmake --build "$build" --target vdnn_cuda vdnn_conformance_cuda vdnn-run
}

# Every test that did not pass, by name.
conformance_rest() {
  comm -23 \
    <("$build/test-bin/vdnn_conformance_cuda" --gtest_list_tests | awk '/^[^ ].*\.$/ {suite = $1} /^  / {print suite $1}' | sort) \
    <(sed -n 's/^\[       OK \] \([^ ,]*\).*/\1/p' "$logs"/conformance-*.txt | sort)
}

# In several processes: most of the time goes into opening devices and into NVRTC. An error of the GPU ends all work of its
# process, so what did not pass runs again, each test by itself.
stage_conformance() {
  local shards=8 i rest
  rm -f "$logs"/conformance-*.txt
  for ((i = 0; i < shards; ++i)); do
    GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$i timeout 200 \
      "$build/test-bin/vdnn_conformance_cuda" > "$logs/conformance-$i.txt" 2>&1 &
  done
  wait
  if ! grep -q '^\[       OK \]' "$logs"/conformance-*.txt; then
    tail -n 20 "$logs/conformance-0.txt"
    return 1
  fi
  rest=$(conformance_rest)
  if [ -n "$rest" ]; then
    echo "again, one by one: $(wc -l <<< "$rest")"
    timeout 200 xargs -P $shards -I{} sh -c \
      'timeout 60 "$1" --gtest_filter="$3" > "$2/conformance-alone-$(echo "$3" | tr / _).txt" 2>&1' \
      sh "$build/test-bin/vdnn_conformance_cuda" "$logs" {} <<< "$rest"
    rest=$(conformance_rest)
  fi
  for test in $rest; do
    echo "--- $test"
    grep -vE '^(Running main|Note:|\[[=-]|$)' "$logs/conformance-alone-${test//\//_}.txt" | head -n 10 | cut -c 1-300
  done 2> /dev/null | head -n 200
  echo "passed: $(cat "$logs"/conformance-*.txt | grep -c '^\[       OK \]'), failed: $(wc -w <<< "$rest")"
  [ -z "$rest" ]
}

# Memory errors in our own kernels. The libraries' are theirs to test.
stage_sanitize() {
  local tool log=$logs/sanitize.txt
  tool=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2> /dev/null)
  if [ -z "$tool" ]; then
    skipped="there is no compute-sanitizer"
    return 0
  fi
  local tests='PointwiseTest.*:PointwiseTypesTest.*:ShapeTest.*:DropoutTest.*:SgdTest.*'
  tests+=':*PoolTest*:*BatchNorm*:*LrnTest*:*ReduceTest*:*SoftmaxTest*:*LossTest*:-PointwiseTest.UnaryFunctions'
  if timeout 200 "$tool" --tool memcheck --report-api-errors no --error-exitcode 99 "$build/test-bin/vdnn_conformance_cuda" \
    --gtest_filter="$tests" > "$log" 2>&1; then
    return 0
  elif [ $? -eq 124 ]; then
    # Slow machines get less far; what they reach is clean.
    grep -E -A 8 '^========= (Invalid|Error)' "$log" | head -n 60 | grep . && return 1
    skipped="stopped after 200 s and $(grep -c '^\[       OK \]' "$log") tests without an error"
    return 0
  elif grep -q 'Device not supported' "$log"; then
    skipped="compute-sanitizer does not support this machine's device"
    return 0
  fi
  grep -E '^=========|^\[  FAILED  \]' "$log" | head -n 60
  return 1
}

# Training, gradients and equal bits; what is printed stays in the log too.
stage_train() {
  timeout 560 python3 test/gpu/train.py --build-dir "$build" --plans "$plans" 2>&1 | tee "$logs/train.txt"
}

# The time of a step beside PyTorch's, as a table and as JSON.
stage_time() {
  timeout 560 python3 test/gpu/step_time.py --build-dir "$build" --plans "$plans" --output "$logs/time.json" 2>&1 | tee "$logs/time.txt"
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || echo "there is no nvidia-smi" >&2
summary=()
status=0
for stage in "${stages[@]}"; do
  echo "=== $stage"
  SECONDS=0
  skipped=
  if "stage_$stage"; then
    summary+=("$stage: ${skipped:-passed} (${SECONDS} s)")
  else
    summary+=("$stage: FAILED (${SECONDS} s)")
    status=1
  fi
done
echo "=== summary"
printf '%s\n' "${summary[@]}"
exit $status
