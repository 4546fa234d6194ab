"""Writes ONNX test data for make_plan.py's infer.json, right (good/) and with one wrong element (bad/), and its weights."""

import json
import os
import struct
import sys


def varint(value):
    text = b""
    while value >= 128:
        text += bytes([value & 127 | 128])
        value >>= 7
    return text + bytes([value])


def tensor(name, shape, values):
    raw = struct.pack(f"<{len(values)}f", *values)
    text = b"".join(b"\x08" + varint(extent) for extent in shape) + b"\x10\x01"
    return text + b"\x42" + varint(len(name)) + name.encode() + b"\x4a" + varint(len(raw)) + raw


def main():
    folder = sys.argv[1]
    x = [float(i % 4) for i in range(32)]
    w = [float(1 + i % 3) for i in range(12)]
    y = [sum(x[4 * i + k] * w[3 * k + j] for k in range(4)) for i in range(8) for j in range(3)]
    for name, change in (("good", 0.0), ("bad", 0.5)):
        place = os.path.join(folder, name, "test_data_set_0")
        os.makedirs(place, exist_ok=True)
        expected = [y[0] + change] + y[1:]
        for file, data in (("input_0.pb", tensor("x", [8, 4], x)), ("output_0.pb", tensor("another_name", [8, 3], expected))):
            with open(os.path.join(place, file), "wb") as out:
                out.write(data)
    header = json.dumps({"w": {"dtype": "F32", "shape": [4, 3], "data_offsets": [0, 48]}}).encode()
    with open(os.path.join(folder, "w.safetensors"), "wb") as out:
        out.write(struct.pack("<Q", len(header)) + header + struct.pack("<12f", *w))


main()
