"""Makes a small corpus for each fuzzer: sound files of every kind, from the models and tests of this repository and ONNX's own."""

import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
READERS = ["vdnn", "onnx", "mlir", "npy", "safetensors", "pb"]
# ONNX's own tests: small models for every op.
NODE_TESTS = Path("/usr/share/libonnx-testdata/data/node")
SMALL = 32 << 10
OPS = ("add", "averagepool", "batchnorm", "cast", "clip", "concat", "constant", "conv", "dropout", "expand", "flatten", "gather", "gemm", "lrn",
       "logsoftmax", "matmul", "maxpool", "nllloss", "pad", "range", "reduce", "relu", "reshape", "sce", "shape", "slice", "softmax", "split",
       "squeeze", "transpose", "unsqueeze", "where")


def copy_small(paths, folder, kept):
    """The names number the files, because many are called model.onnx."""
    for number, path in enumerate(p for p in paths if p.stat().st_size <= SMALL):
        if number == kept:
            break
        shutil.copy(path, folder / f"{number:03}{path.suffix}")


def node_tests(pattern):
    for op in OPS:
        yield from sorted(NODE_TESTS.glob(f"test_{op}*/{pattern}"))[:3]


def write_npy(folder):
    for number, array in enumerate([np.zeros((2, 3), "<f4"), np.arange(5, dtype="<i8"), np.array(True), np.zeros((0, 4), "<f8"),
                                    np.asfortranarray(np.ones((2, 3), "<f2"))]):
        np.save(folder / f"{number}.npy", array)


def write_safetensors(folder):
    headers = [{}, {"__metadata__": {"vdnn.step": "3"}, "w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
                    "b": {"dtype": "I64", "shape": [1], "data_offsets": [24, 32]}},
               {"u": {"dtype": "F8_E4M3", "shape": [], "data_offsets": [0, 1]}, "e": {"dtype": "BF16", "shape": [0], "data_offsets": [1, 1]}}]
    for number, header in enumerate(headers):
        text = json.dumps(header).encode()
        data = bytes(max([t["data_offsets"][1] for t in header.values() if "data_offsets" in t], default=0))
        (folder / f"{number}.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_plans(build, plans, modules):
    model = ROOT / "test/models/digits.onnx"
    targets = {"none": ["--policy=none"], "all": ["--policy=all"], "bf16": ["--policy=none", "--device=h200", "--precision=bf16"]}
    for name, target in targets.items():
        options = [model, "--batch=2", "--loss=cross_entropy", *target, "--summary=none"]
        for emit, path in (("schedule", plans / f"{name}.vdnn"), ("commands", modules / f"{name}.mlir")):
            subprocess.run([build / "bin/vdnn-opt", *options, f"--emit={emit}", "-o", path], check=True, stderr=subprocess.DEVNULL)
    for weights in (*plans.glob("*.safetensors"), *modules.glob("*.safetensors")):
        weights.unlink()


def write(folder, build):
    """Fills `folder`/READER for every reader; `build` is a folder with tools."""
    if not NODE_TESTS.exists():
        sys.exit(f"error: no ONNX test data in '{NODE_TESTS}'; install libonnx-testdata")
    folders = {reader: folder / reader for reader in READERS}
    for path in folders.values():
        path.mkdir(parents=True)
    write_npy(folders["npy"])
    write_safetensors(folders["safetensors"])
    copy_small(node_tests("test_data_set_0/*.pb"), folders["pb"], 60)
    copy_small(node_tests("model.onnx"), folders["onnx"], 120)
    copy_small(sorted((ROOT / "test").glob("*/**/*.mlir")), folders["mlir"], 60)
    write_plans(build, folders["vdnn"], folders["mlir"])
