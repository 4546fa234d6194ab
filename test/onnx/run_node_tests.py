#!/usr/bin/env python3
"""Runs ONNX's own backend tests through vdnn-opt and vdnn-run.

    run_node_tests.py --build-dir BUILD [--data FOLDER] [--jobs N] [--filter TEXT]

A case is run when vdnn-opt knows every op of its graph. Cases that are known not to pass stand in skipped.txt with a
reason, those that never will apart from those that nobody has built; the run fails if another case fails, or if one that
stands there passes or is no case.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx

GROUPS = ("node", "pytorch-converted", "pytorch-operator", "simple")
TIMEOUT = 60


def implemented_ops(vdnn_opt):
    """The ops of the table that vdnn-opt prints."""
    result = subprocess.run([vdnn_opt, "--list-ops"], capture_output=True, text=True, timeout=TIMEOUT)
    ops = {line.split("|")[1].strip() for line in result.stdout.splitlines()[2:]}
    if not ops:
        sys.exit(f"error: vdnn-opt did not list its ops, but said: {result.stderr.strip()}")
    return ops


CLASSES = ("by design", "not built")


def read_skipped(path):
    """Triples (pattern, class, reason) of the `pattern: reason` lines below each `[class]`."""
    entries, kind = [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("[") and line.strip("[]") in CLASSES:
            kind = line.strip("[]")
        elif line.strip() and not line.startswith("#"):
            pattern, colon, reason = line.partition(":")
            if kind is None or not colon or not reason.strip():
                sys.exit(f"error: {path}, line {number}: 'pattern: reason' below one of the lines "
                         + ", ".join(f"[{name}]" for name in CLASSES) + " is expected")
            entries.append((pattern.strip(), kind, reason.strip()))
    return entries


# Operands that a plan must know: the tests give them as inputs, a static plan takes them as initializers.
STATIC_OPERANDS = {"ConstantOfShape": (0,), "Expand": (1,), "Gather": (1,), "Range": (0, 1, 2), "ReduceSum": (1,), "Reshape": (1,),
                   "Slice": (1, 2, 3, 4), "Split": (1,), "Squeeze": (1,), "Unsqueeze": (1,), "Dropout": (1, 2)}


def with_static_operands(folder, scratch):
    """A copy of a case in which such inputs are initializers, holding the values of its (only) data set."""
    model = onnx.load(folder / "model.onnx", load_external_data=False)
    static = {node.input[i] for node in model.graph.node for i in STATIC_OPERANDS.get(node.op_type, ()) if i < len(node.input)}
    static -= {tensor.name for tensor in model.graph.initializer}  # old models list these as inputs too
    if not any(value.name in static for value in model.graph.input):
        return folder
    source, target = folder / "test_data_set_0", Path(scratch) / "case" / "test_data_set_0"
    target.mkdir(parents=True)
    kept = []
    held = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in held]
    for i, value in enumerate(inputs):
        data = (source / f"input_{i}.pb").read_bytes()
        if value.name in static:
            tensor = onnx.TensorProto.FromString(data)
            tensor.name = value.name
            model.graph.initializer.append(tensor)
        else:
            (target / f"input_{len(kept)}.pb").write_bytes(data)
            kept.append(value)
    del model.graph.input[:]
    model.graph.input.extend(kept)
    for output in source.glob("output_*.pb"):
        (target / output.name).write_bytes(output.read_bytes())
    onnx.save(model, target.parent / "model.onnx")
    return target.parent


def run_case(folder, tools):
    """None where the case passes, else what went wrong."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = with_static_operands(folder, scratch)
        plan = os.path.join(scratch, "plan.vdnn")
        for command in ([tools / "vdnn-opt", folder / "model.onnx", "--threads=1", "--summary=none", "-o", plan],
                        [tools / "vdnn-run", plan, "--onnx-test", folder]):
            try:
                result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT,
                                        env={**os.environ, "OMP_NUM_THREADS": "1"})
            except subprocess.TimeoutExpired:
                return f"{command[0].name} took longer than {TIMEOUT} s"
            if result.returncode != 0:
                lines = (result.stderr + result.stdout).strip().splitlines() or [f"exit status {result.returncode}"]
                errors = [line for line in lines if "error" in line]
                return f"{command[0].name}: {(errors or lines)[0]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, required=True, help="build folder; vdnn-opt and vdnn-run are in its bin/")
    parser.add_argument("--data", type=Path, default=Path("/usr/share/libonnx-testdata/data"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--filter", default="", help="only cases whose name holds this text")
    parser.add_argument("--verbose", action="store_true", help="name every case that passes")
    options = parser.parse_args()

    tools = (options.build_dir / "bin").resolve()
    ops = implemented_ops(tools / "vdnn-opt")
    skipped = read_skipped(Path(__file__).with_name("skipped.txt"))
    cases = {}
    foreign = 0
    for group in GROUPS:
        for path in sorted((options.data / group).glob("*/model.onnx")):
            name = f"{group}/{path.parent.name}"
            if options.filter not in name:
                continue
            model = onnx.load(path, load_external_data=False)
            if all(node.op_type in ops and node.domain in ("", "ai.onnx") for node in model.graph.node):
                cases[name] = path.parent
            else:
                foreign += 1
    if not cases:
        sys.exit("error: no test data found; install libonnx-testdata")

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = dict(zip(cases, pool.map(lambda folder: run_case(folder, tools), cases.values())))

    passed, unexpected, stale = 0, [], []
    reasons = collections.Counter()
    for name, error in results.items():
        entry = next((entry for entry in skipped if fnmatch.fnmatch(name, entry[0])), None)
        if error is None:
            passed += 1
            if entry is not None:
                stale.append(name)
            elif options.verbose:
                print(f"passed: {name}")
        elif entry is not None:
            reasons[entry[1:]] += 1
        else:
            unexpected.append((name, error))
    if not options.filter:
        # A pattern that no case has says nothing any more.
        stale += [pattern for pattern, _, _ in skipped if not fnmatch.filter(results, pattern)]
    for (kind, reason), count in sorted(reasons.items()):
        print(f"skipped {count}, {kind}: {reason}")
    for name in stale:
        print(f"stale in skipped.txt, as it passes or is no case: {name}")
    for name, error in unexpected:
        print(f"failed: {name}: {error}")
    totals = {kind: sum(count for (of, _), count in reasons.items() if of == kind) for kind in CLASSES}
    print(f"{passed} passed, {len(unexpected)} failed, skipped {totals['by design']} by design and {totals['not built']} not built; "
          f"{foreign} cases use ops that are not implemented")
    return 1 if unexpected or stale else 0


if __name__ == "__main__":
    sys.exit(main())
