#!/usr/bin/env python3
"""Runs ONNX's own backend tests through vdnn-opt and vdnn-run.

    run_node_tests.py --build-dir BUILD [--data FOLDER] [--jobs N] [--filter TEXT]

A case is run when vdnn-opt knows every op of its graph. Cases that are known not to pass stand in skipped.txt with a
reason; the run fails if another case fails, or if one that stands there passes.
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
    """The ops that the importer lists when it meets one it does not know."""
    value = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    node = onnx.helper.make_node("NoSuchOp", ["x"], ["y"])
    graph = onnx.helper.make_graph([node], "g", [value], [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1])])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "unknown.onnx")
        onnx.save(model, path)
        result = subprocess.run([vdnn_opt, path, "-o", os.path.join(folder, "plan.vdnn")], capture_output=True, text=True, timeout=TIMEOUT)
    marker = "this op is not supported; accepted: "
    if marker not in result.stderr:
        sys.exit(f"error: vdnn-opt did not list its ops, but said: {result.stderr.strip()}")
    return set(result.stderr.split(marker)[1].splitlines()[0].split(", "))


def read_skipped(path):
    """Pairs (pattern, reason) of `pattern: reason` lines."""
    entries = []
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, reason = line.split(":", 1)
            entries.append((pattern.strip(), reason.strip()))
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

    passed, unexpected, wrong = 0, [], []
    reasons = collections.Counter()
    for name, error in results.items():
        reason = next((reason for pattern, reason in skipped if fnmatch.fnmatch(name, pattern)), None)
        if error is None:
            passed += 1
            if reason is not None:
                wrong.append(name)
            elif options.verbose:
                print(f"passed: {name}")
        elif reason is not None:
            reasons[reason] += 1
        else:
            unexpected.append((name, error))
    for reason, count in sorted(reasons.items()):
        print(f"skipped {count}: {reason}")
    for name in wrong:
        print(f"listed as skipped, but passes: {name}")
    for name, error in unexpected:
        print(f"failed: {name}: {error}")
    print(f"{passed} passed, {len(unexpected)} failed, {sum(reasons.values())} skipped; "
          f"{foreign} cases use ops that are not implemented")
    return 1 if unexpected or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
