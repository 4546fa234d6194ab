"""Checks that every value of a .npy file is the one of tensor 'w' in a .safetensors file, rounded to bf16, and that no copy of it is in that file."""

import json
import struct
import sys


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    assert list(header) == ["w"], f"saved {list(header)}"
    begin, end = (8 + length + offset for offset in header["w"]["data_offsets"])
    bits = struct.unpack(f"<{(end - begin) // 4}I", data[begin:end])
    rounded = [number + 0x7FFF + (number >> 16 & 1) & 0xFFFF0000 for number in bits]
    with open(sys.argv[2], "rb") as file:
        values = file.read()[-len(bits) * 4 :]
    assert list(struct.unpack(f"<{len(bits)}I", values)) == rounded, "the values are others"
    assert rounded != list(bits), "nothing was rounded"


main()
