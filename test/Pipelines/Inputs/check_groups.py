"""Checks the updates of a step: no parameter is lost, and groups keep to their bounds. Prints how many kernels there are."""

import math
import re
import sys

LARGEST, PENDING, MOST = 4 << 20, 16 << 20, 64


def byte_count(tensor):
    *shape, element = re.match(r"([0-9x]*?)(f32|bf16)", tensor).groups()
    return math.prod(int(size) for size in shape[0].split("x") if size) * (4 if element == "f32" else 2)


def main():
    text = open(sys.argv[1]).read()
    expected = int(sys.argv[2])
    lists = re.findall(r"vdnn\.sgd_group [^ ]+ parameters\(([^)]*)\) gradients\([^)]*\).*? : \((.*?)\) ->", text)
    updated = []
    for names, types in lists:
        names = names.split(", ")
        tensors = re.findall(r"tensor<([^,>]*)", types)[1:]
        parameters, gradients = tensors[:len(names)], tensors[len(names):2 * len(names)]
        assert 2 <= len(names) <= MOST, len(names)
        assert max(map(byte_count, parameters)) <= LARGEST
        assert sum(map(byte_count, gradients)) <= PENDING
        updated += names
    for name, tensor in re.findall(r"vdnn\.sgd (%[^,]*),.* : \(tensor<([^,>]*)", text):
        assert byte_count(tensor) > LARGEST, (name, tensor)
        updated.append(name)
    assert len(updated) == len(set(updated)) == expected, (len(updated), len(set(updated)))
    print(f"{len(lists)} groups, the largest of {max(len(names.split(', ')) for names, _ in lists)}, "
          f"{len(re.findall('vdnn.sgd ', text))} single updates")


if __name__ == "__main__":
    main()
