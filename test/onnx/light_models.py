#!/usr/bin/env python3
"""Plans a training step of the classic networks that the onnx package carries without their weights ("light" models, opset 9).

They lie in the wheel that the build takes onnx-ml.proto from. Their weights are ConstantOfShape nodes, their last op a softmax.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Name: parameters of the network, in millions.
NETWORKS = {"bvlc_alexnet": 61.0, "vgg19": 143.7, "zfnet512": 87.3, "inception_v1": 7.0, "resnet50": 25.6}


def find_models(build):
    folders = [build / "onnx-wheel/onnx", *(Path(p) / "onnx" for p in sys.path)]
    for folder in folders:
        light = folder / "backend/test/data/light"
        if light.is_dir():
            return light
    return None


def parameters(plan):
    total = 0
    for line in plan.read_text().splitlines():
        words = line.split()
        if words[:1] == ["vdnn.tensor"] and words[2] == "parameter":
            total += int(words[words.index("bytes") - 1]) // 4
    return total / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", default="build")
    build = (ROOT / parser.parse_args().build_dir).resolve()
    light = find_models(build)
    if light is None:
        sys.exit("no light models: they are in the PyPI package onnx 1.14 or later")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, expected in NETWORKS.items():
            plan = Path(folder) / f"{name}.mlir"
            for loss in ("cross_entropy", "none"):
                done = subprocess.run(
                    [build / "bin/vdnn-opt", light / f"light_{name}.onnx", f"--loss={loss}", "--policy=all", "--summary=none", "-o", plan],
                    capture_output=True, text=True)
                found = parameters(plan) if done.returncode == 0 else 0
                right = abs(found / expected - 1) < 0.01
                failures += not right
                print(f"{name:14} loss={loss:14} {found:6.1f} M parameters, expected {expected} {'' if right else 'FAILED ' + done.stderr}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
