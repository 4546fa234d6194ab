#!/usr/bin/env bash
# Tests the CUDA backend on a machine with an NVIDIA GPU (sm_90); each stage takes less than nine minutes.
#   test/gpu/run.sh                        build in build-gpu/, then the stages conformance and sanitize; with plans the others too
#   test/gpu/run.sh STAGE ...              build, then some stages: conformance sanitize train trace budget errors time
#   test/gpu/run.sh --build-dir DIR ...    run what DIR holds already: binaries made on another machine will do
#   test/gpu/run.sh --plans DIR ...        plans for the stages from train on, from test/gpu/make_plans.py
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
[ ${#stages[@]} -gt 0 ] || stages=(conformance sanitize ${plans:+train trace budget errors time})
for stage in "${stages[@]}"; do
  case $stage in
    conformance | sanitize) ;;
    train | trace | budget | errors | time)
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

# sanitize_with TOOL SECONDS FILTER [OPTION ...]: one tool over the tests, in several processes. What it reports fails the stage, and so does a test.
# A process that is stopped for want of time has shown what it reached.
sanitize_with() {
  local tool=$1 seconds=$2 filter=$3 shards=8 i code pids=() failed=0 stopped=0
  shift 3
  rm -f "$logs/sanitize-$tool"-*.txt
  for ((i = 0; i < shards; ++i)); do
    GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$i timeout "$seconds" "$sanitizer" --tool "$tool" --error-exitcode 99 "$@" \
      "$build/test-bin/vdnn_conformance_cuda" --gtest_filter="$filter" > "$logs/sanitize-$tool-$i.txt" 2>&1 &
    pids+=($!)
  done
  for ((i = 0; i < shards; ++i)); do
    wait "${pids[i]}"
    code=$?
    if [ $code -eq 124 ] && ! grep -qE '^========= +(Invalid|Error|Warning|Uninitialized|Program hit)' "$logs/sanitize-$tool-$i.txt"; then
      stopped=$((stopped + 1))
    elif [ $code -ne 0 ] || ! grep -qE '^========= (ERROR|RACECHECK) SUMMARY: 0 ' "$logs/sanitize-$tool-$i.txt"; then
      failed=$((failed + 1))
      echo "--- $tool, process $i ended with code $code"
      grep -E '^=========|^\[  FAILED  \]' "$logs/sanitize-$tool-$i.txt" | head -n 30 | cut -c 1-300
    fi
  done
  local passed
  passed=$(cat "$logs/sanitize-$tool"-*.txt | grep -c '^\[       OK \]')
  echo "$tool: $passed tests, $failed of $shards processes failed, $stopped stopped after $seconds s"
  [ $failed -eq 0 ] && [ "$passed" -gt 0 ]
}

# Memory errors and races within a block in our own kernels. The libraries' are theirs to test.
stage_sanitize() {
  sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2> /dev/null)
  if [ -z "$sanitizer" ]; then
    skipped="skipped, there is no compute-sanitizer"
    return 0
  fi
  local shared='*BatchNorm*:*LrnTest*:*ReduceTest*:*SoftmaxTest*:*LossTest*:ShapeTest.*' status=0 races
  # Side by side: both tools keep the host busier than the GPU.
  sanitize_with racecheck 110 "$shared" > "$logs/racecheck.txt" &
  races=$!
  sanitize_with memcheck 110 "$shared:Sgd*:*PoolTest*:*ConvTest.*plain3x3*:*ConvTest.*firstLayer*:LayoutTest.*:Pointwise*:DropoutTest.*:-PointwiseTest.UnaryFunctions" \
    --report-api-errors no || status=1
  wait $races || status=1
  cat "$logs/racecheck.txt"
  if grep -q 'Device not supported' "$logs"/sanitize-*.txt; then
    skipped="skipped, compute-sanitizer does not support this machine's device"
    return 0
  fi
  return $status
}

# Training, gradients and equal bits; what is printed stays in the log too.
stage_train() {
  timeout 560 python3 test/gpu/train.py --build-dir "$build" --plans "$plans" 2>&1 | tee "$logs/train.txt"
}

# Traces hold what the GPU did, in replayed steps too.
stage_trace() {
  timeout 300 python3 test/gpu/trace.py --build-dir "$build" --plans "$plans" 2>&1 | tee "$logs/trace.txt"
}

# A whole process keeps to its plan's budget.
stage_budget() {
  timeout 300 python3 test/gpu/budget.py --build-dir "$build" --plans "$plans" 2>&1 | tee "$logs/budget.txt"
}

# What is missing or goes wrong is said clearly and loses nothing.
stage_errors() {
  timeout 500 python3 test/gpu/errors.py --build-dir "$build" --plans "$plans" 2>&1 | tee "$logs/errors.txt"
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
