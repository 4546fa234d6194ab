#!/usr/bin/env python3
"""Round-trips every ```mlir example of the op definitions through vdnn-opt, and checks that every op has one.

Examples are snippets: operands that a snippet does not define become arguments of a function around it, with the types that the
snippet's own type lists give; command ops get a plan around them, with a buffer for every name that they use.
"""

import argparse
import json
import re
import subprocess
import sys


def read_ops(tblgen, include, mlir_include):
    """Yields (name of the op, its description) for every op of the dialect."""
    path = f"{include}/vdnn/Dialect/VDNNOps.td"
    command = [tblgen, "--dump-json", f"-I{include}", f"-I{mlir_include}", path]
    records = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    for name in records["!instanceof"]["VDNN_Op"]:
        record = records[name]
        yield "vdnn." + record["opName"], record["description"]


def split_types(text):
    """Splits at commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += char in "(<{["
        depth -= char in ")}]" or (char == ">" and text[i - 1] != "-")
        if char == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [part.strip() for part in parts + [text[start:]] if part.strip()]


def operand_types(op):
    """The operands of one op in textual order with their types."""
    head = op.split("{\n", 1)[0]
    # Attributes hold no operands and no types of operands.
    head = re.sub(r"\{[^{}]*\}", "", head)
    inside = re.search(r"ins\((.*?):(.*?)\)\s*->", head)
    functional = re.search(r":\s*\((.*)\)\s*->", head)
    if inside:
        names, types = inside.group(1), inside.group(2)
    elif functional:
        names, types = head[: functional.start()], functional.group(1)
    else:
        names, _, types = head.partition(" : ")
    names = names.split(" = ", 1)[-1]
    return list(zip(re.findall(r"%\w+", names), split_types(types)))


def wrap_values(example):
    # Continued lines are indented; a program stays with its op.
    ops = re.split(r"\n(?=%|vdnn)", example)
    defined, arguments = set(), {}
    for op in ops:
        for name, type in operand_types(op):
            if name not in defined:
                arguments.setdefault(name, type)
        if " = " in op:
            defined.update(re.findall(r"%\w+", op.split(" = ", 1)[0]))
    header = ", ".join(f"{name}: {type}" for name, type in arguments.items())
    return f"func.func @example({header}) {{\n{example}\nreturn\n}}\n"


def wrap_commands(example):
    defined = set(re.findall(r"vdnn\.(?:tensor|buffer) (@[\w.]+)", example))
    used = [name for name in dict.fromkeys(re.findall(r"@[\w.]+", example)) if name not in defined]
    buffers = "".join(f"vdnn.buffer {name} device at 0 bytes 256 align 256\n" for name in used)
    return f"vdnn.plan @example {{\n{buffers}{example}\n}}\n"


def wrap(example):
    if example.startswith("vdnn.plan"):
        return example
    if re.match(r"vdnn\.(tensor|buffer|cmd\.)", example):
        return wrap_commands(example)
    return wrap_values(example)


def round_trip(opt, text):
    """Prints a module twice; returns the text, or raises with what went wrong."""
    for _ in range(2):
        run = subprocess.run([opt, "--unproven", "-"], input=text, capture_output=True, text=True)
        if run.returncode != 0:
            raise ValueError(run.stderr)
        before, text = text, run.stdout
    if before != text:
        raise ValueError("the printed form changes when it is read and printed again")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opt", default="vdnn-opt")
    parser.add_argument("--tblgen", default="llvm-tblgen")
    parser.add_argument("--include", required=True, help="folder of the project's headers")
    parser.add_argument("--mlir-include", required=True, help="folder of MLIR's headers")
    arguments = parser.parse_args()

    count, errors = 0, []
    for name, description in read_ops(arguments.tblgen, arguments.include, arguments.mlir_include):
        examples = re.findall(r"```mlir\n(.*?)```", description, re.S)
        if not examples:
            errors.append(f"{name}: no example")
        for example in examples:
            count += 1
            example = re.sub(r"^    ", "", example, flags=re.M).strip()
            text = wrap(example)
            try:
                if name not in round_trip(arguments.opt, text):
                    errors.append(f"{name}: not in its own example")
            except ValueError as error:
                errors.append(f"{name}: {error}\n{text}")
    print(f"{count} examples, {len(errors)} errors")
    print("\n".join(errors), file=sys.stderr)
    return 1 if errors or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
