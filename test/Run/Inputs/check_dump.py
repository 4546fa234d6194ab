"""Compares a dump of two steps on the linear classifier with its own arithmetic and with what other options write."""

import json
import struct
import sys

BATCH, FEATURES, CLASSES = 8, 4, 3
RATE = 0.01


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    result = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        result[name] = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    return result


def product(a, b, rows, inner, columns):
    return [sum(a[i * inner + k] * b[k * columns + j] for k in range(inner)) for i in range(rows) for j in range(columns)]


def close(a, b):
    return len(a) == len(b) and all(abs(p - q) <= 1e-5 * (1 + abs(q)) for p, q in zip(a, b))


def main():
    folder = sys.argv[1]
    dump, saved, gradients = (read(f"{folder}/{name}.safetensors") for name in ("all", "end", "gradients"))
    with open(f"{folder}/train_x.npy", "rb") as file:
        content = file.read()
    first = content.index(b"\n") + 1 + BATCH * FEATURES * 4  # of the second step
    x = struct.unpack_from(f"<{BATCH * FEATURES}f", content, first)
    transposed = [x[i * FEATURES + k] for k in range(FEATURES) for i in range(BATCH)]
    before = [new + RATE * gradient for new, gradient in zip(dump["w"], dump["w.grad"])]
    print("dumped:", *sorted(dump))
    if close(dump["logits"], product(x, before, BATCH, FEATURES, CLASSES)):
        print("logits are those of x and w")
    if close(dump["w.grad"], product(transposed, dump["dlogits"], FEATURES, BATCH, CLASSES)):
        print("dlogits add up to w.grad")
    if dump["w.grad"] == gradients["w.grad"]:
        print("w.grad is that of --dump-gradients")
    if dump["w"] == saved["w"]:
        print("w is that of --save")


if __name__ == "__main__":
    main()
