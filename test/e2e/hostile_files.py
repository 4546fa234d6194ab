#!/usr/bin/env python3
"""Truncated, bit-flipped and lying files must end in an error message: no crash, no hang, no allocation after a number in the file.

Makes good files of every kind that the tools read, damages them by seed, and runs the tools on the damaged copies under a
limit on time and address space. A tool may accept a damaged file (a flipped bit of a weight is still a weight) or refuse it with a message;
it may not die by a signal, run out of time or memory, or refuse in silence.
"""

import argparse
import random
import resource
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 20
BYTES = 3 << 30
LYING = [b"\xff" * 8, b"\x7f" + b"\xff" * 7, b"\x00" * 8, struct.pack("<Q", 1 << 62), b"9999999999999999999"]


def damage(data, rng):
    data = bytearray(data)
    kind = rng.randrange(5)
    if kind == 0:
        return bytes(data[: rng.randrange(len(data))])
    if kind == 1:
        for _ in range(rng.choice([1, 1, 4, 32])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        return bytes(data)
    if kind == 2:
        at = rng.randrange(len(data))
        lie = rng.choice(LYING)
        data[at : at + len(lie)] = lie
        return bytes(data)
    if kind == 3:  # digits are where text formats keep their numbers
        digits = [i for i, b in enumerate(data[: 1 << 16]) if 0x30 <= b <= 0x39]
        if digits:
            at = rng.choice(digits)
            data[at : at + 1] = rng.choice([b"-1", b"99999999999999", b"0", b"1e308", b"9"])
        return bytes(data)
    start, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return bytes(data[:start] + data[start:end] * 2 + data[end:])


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command):
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, preexec_fn=limits)
    except subprocess.TimeoutExpired:
        return f"hangs for more than {SECONDS} s"
    if done.returncode < 0 or done.returncode > 125:
        return f"dies with status {done.returncode}: {done.stderr[-300:].decode(errors='replace')}"
    if done.returncode and not (done.stderr + done.stdout).strip():
        return "fails without a message"
    if b"bad_alloc" in done.stderr or b"out of memory" in done.stderr.lower():
        return f"allocates after a number in the file: {done.stderr[-200:].decode(errors='replace')}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", default="build")
    parser.add_argument("--count", type=int, default=12, help="damaged files of each kind")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    bins = (ROOT / args.build_dir / "bin").resolve()
    opt, vrun = bins / "vdnn-opt", bins / "vdnn-run"
    rng = random.Random(args.seed)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        sys.path.insert(0, str(Path(__file__).parent))
        import digits_data

        digits_data.write(work)
        model = ROOT / "test/models/digits.onnx"
        plan = [opt, model, "--batch=8", "--loss=cross_entropy", "--policy=all", "--summary=none"]
        for suffix in ("mlir", "vdnn"):
            subprocess.run([*plan, "-o", work / f"good.{suffix}"], check=True)
        data = ["--data", f"x={work}/train_x.npy", "--data", f"labels={work}/train_y.npy"]
        subprocess.run([vrun, work / "good.vdnn", *data, "--steps", "2", "--save", work / "good_weights.safetensors"],
                       check=True, capture_output=True)

        bad = lambda name: work / f"bad{Path(name).suffix}"
        kinds = {
            model: lambda f: [opt, f, "--batch=8", "--loss=cross_entropy", "--summary=none", "-o", work / "out.vdnn"],
            ROOT / "test/models/resnet50.onnx": lambda f: [opt, f, "--batch=2", "--summary=none", "-o", work / "out.vdnn"],
            work / "good.mlir": lambda f: [opt, f, "--summary=none", "-o", work / "out.vdnn"],
            work / "good.vdnn": lambda f: [vrun, f, *data, "--steps", "1"],
            work / "train_x.npy": lambda f: [vrun, work / "good.vdnn", "--data", f"x={f}", *data[2:], "--steps", "1"],
            work / "good_weights.safetensors": lambda f: [vrun, work / "good.vdnn", *data, "--weights", f, "--steps", "1"],
        }
        for good, command in kinds.items():
            content = Path(good).read_bytes()
            for number in range(args.count):
                damaged = bad(good)
                damaged.write_bytes(damage(content, rng))
                problem = run(command(damaged))
                if problem:
                    failures += 1
                    kept = Path(tempfile.gettempdir()) / f"hostile-{failures}{damaged.suffix}"
                    kept.write_bytes(damaged.read_bytes())
                    print(f"{good.name}: damaged file {number} (kept as {kept}): {problem}")
            print(f"{good.name}: {args.count} damaged files tried", flush=True)
    print(f"{'FAILED' if failures else 'passed'}: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
