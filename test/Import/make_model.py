#!/usr/bin/env python3
"""Writes an ONNX model from a few lines of Python, for tests.

    make_model.py MODEL.onnx < PROGRAM

The program calls: opset(N); x("name", shape, type="FLOAT") for an input; w("name", array) for an initializer;
n("Op", inputs, outputs, name=..., **attributes); y("name", ...) for outputs. Inputs and outputs are space-separated names.
`t(array)` makes a tensor for an attribute.
"""

import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

version = [17]
inputs, weights, nodes, outputs = [], [], [], []


def opset(number):
    version[0] = number


def x(name, shape, type="FLOAT"):
    inputs.append(helper.make_tensor_value_info(name, getattr(TensorProto, type), shape))


def w(name, array):
    array = np.asarray(array)
    weights.append(numpy_helper.from_array(array.astype(np.float32) if array.dtype == np.float64 else array, name))


def t(array):
    return numpy_helper.from_array(np.asarray(array))


def n(op, operands="", results="", name=None, **attributes):
    nodes.append(helper.make_node(op, operands.split(" ") if operands else [], results.split(" "), name=name, **attributes))


def y(*names):
    outputs.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)


if __name__ == "__main__":
    exec(compile(sys.stdin.read(), "<program>", "exec"))
    graph = helper.make_graph(nodes, "test", inputs, outputs, weights)
    with open(sys.argv[1], "wb") as file:
        file.write(helper.make_model(graph, opset_imports=[helper.make_opsetid("", version[0])], ir_version=8).SerializeToString())
