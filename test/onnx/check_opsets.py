#!/usr/bin/env python3
"""Compares the table of `vdnn-opt --list-ops` with ONNX's own schemas.

    check_opsets.py TABLE

The first opset of an op must be one at which ONNX gave it the definition that it is read by.
"""

import sys

import onnx


def main():
    count, wrong = 0, 0
    for line in open(sys.argv[1]):
        cells = [cell.strip() for cell in line.strip("|\n ").split("|")]
        if len(cells) < 2 or " to " not in cells[1]:
            continue
        op, first = cells[0], int(cells[1].split(" to ")[0])
        if first > onnx.defs.onnx_opset_version():
            continue  # newer than this ONNX
        count += 1
        since = onnx.defs.get_schema(op, first, "").since_version
        if since != first:
            wrong += 1
            print(f"{op}: opset {first} has the definition of opset {since}")
    print(f"{count} ops, {wrong} with a wrong first opset")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
