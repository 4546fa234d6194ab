"""What the end-to-end scripts share: where the tools are, running them, safetensors files."""

import argparse
import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "test" / "models"


def parser(description):
    """An argument parser with the options that every script has."""
    result = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--build-dir", type=Path, default=ROOT / "build", help="where bin/vdnn-opt and bin/vdnn-run are (default: build)")
    return result


class Tools:
    """The command-line tools of a build; `names`: those that must be there."""

    def __init__(self, build_dir, names=("vdnn-opt", "vdnn-run")):
        self.bin = build_dir / "bin"
        for name in names:
            if not (self.bin / name).exists():
                sys.exit(f"'{self.bin / name}' does not exist; build the project, or name its build folder with --build-dir")

    def command(self, tool, *arguments):
        return [str(self.bin / tool), *map(str, arguments)]

    def run(self, tool, *arguments, check=True):
        """Runs a tool to its end; what it wrote comes back. A failure ends the script with the tool's own words."""
        command = self.command(tool, *arguments)
        result = subprocess.run(command, capture_output=True, text=True)
        if check and result.returncode != 0:
            sys.exit(f"{' '.join(command)}\nended with code {result.returncode}:\n{result.stdout}{result.stderr}")
        return result

    def plan(self, model, output, *arguments):
        """Plans a model; the summary comes back as a dictionary."""
        text = self.run("vdnn-opt", model, *arguments, "--summary=json", "-o", output).stderr
        lines = [line for line in text.splitlines() if line.startswith("{")]
        if not lines:
            sys.exit(f"vdnn-opt {model} printed no summary, but:\n{text}")
        return json.loads(lines[-1])


def write_safetensors(path, tensors):
    """Writes float32 and int64 arrays by name."""
    header, offset = {}, 0
    arrays = {name: np.ascontiguousarray(value) for name, value in tensors.items()}
    for name, value in arrays.items():
        dtype = {"float32": "F32", "int64": "I64"}[value.dtype.name]
        header[name] = {"dtype": dtype, "shape": list(value.shape), "data_offsets": [offset, offset + value.nbytes]}
        offset += value.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for value in arrays.values():
            file.write(value.tobytes())


def read_safetensors(path):
    """Reads the float32 and int64 arrays of a file by name."""
    data = Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    result = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        dtype = {"F32": np.float32, "BF16": np.uint16, "I64": np.int64}[entry["dtype"]]
        values = np.frombuffer(data[8 + length + begin : 8 + length + end], dtype).reshape(entry["shape"])
        # NumPy has no bf16, the upper half of an f32.
        result[name] = (values.astype(np.uint32) << 16).view(np.float32) if entry["dtype"] == "BF16" else values
    return result


def fail_if(problems, passed):
    """Ends the script: with the problems, or with the line `passed`."""
    if problems:
        sys.exit("\n".join(["FAILED", *problems]))
    print(passed)
