#!/usr/bin/env bash
# The main job, end to end: plan a real network under a byte budget, show what was decided, train it on real data on the
# CPU, test it, and show that the planned run equals the unplanned one bit for bit.
#   scripts/demo.sh [build directory]
set -euo pipefail
cd "$(dirname "$0")/.."
bin="${1:-build}/bin"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
show() { printf '$ %s\n' "$(printf '%s ' "${@//$work\//}")"; "$@"; }

say "1. VGG-16, batch 256, does not fit a 12 GB Titan X. The vDNN paper's policies, planned without a GPU:"
show "$bin/vdnn-opt" test/models/vgg16.onnx --batch=256 --loss=cross_entropy --momentum=0 --device=titanx \
  --policy=none --budget=12GiB -o "$work/vgg16.mlir" || true
show "$bin/vdnn-opt" test/models/vgg16.onnx --batch=256 --loss=cross_entropy --momentum=0 --device=titanx \
  --policy=all --kernels=memory --budget=12GiB -o "$work/vgg16.mlir"
say "   One line of the plan per tensor says what was decided, and why:"
grep 'vdnn.tensor' "$work/vgg16.mlir" | grep ' offload ' | cut -c1-160 | head -6

say "2. A convolutional net exported from PyTorch, planned for this CPU: unplanned, and offloading under a budget"
/usr/bin/python3 test/e2e/digits_data.py "$work"
train=(test/models/digits.onnx --batch=64 --loss=cross_entropy --momentum=0.9 --device=cpu --summary=text)
show "$bin/vdnn-opt" "${train[@]}" --policy=none -o "$work/unplanned.mlir"
show "$bin/vdnn-opt" "${train[@]}" --policy=all --budget=800KiB -o "$work/planned.mlir"

say "3. It trains on scikit-learn's handwritten digits"
data=(--data "x=$work/train_x.npy" --data "labels=$work/train_y.npy" --shuffle 1)
show "$bin/vdnn-run" "$work/planned.mlir" "${data[@]}" --epochs 12 --rate 0.05 --save "$work/trained.safetensors" --log-every 44

say "4. On 360 digits that it has not seen"
"$bin/vdnn-opt" test/models/digits.onnx --batch=60 --device=cpu --summary=none -o "$work/infer.mlir"
show "$bin/vdnn-run" "$work/infer.mlir" --weights "$work/trained.safetensors" --data "x=$work/test_x.npy" --labels "$work/test_y.npy"

say "5. The planned run equals the unplanned run, bit for bit"
show "$bin/vdnn-run" "$work/planned.mlir" --compare "$work/unplanned.mlir" "${data[@]}" --steps 30 --rate 0.05
