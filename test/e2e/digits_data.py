#!/usr/bin/env python3
"""Writes scikit-learn's handwritten digits (1,797 images of 8 x 8) as .npy files, split by a fixed seed.

    digits_data.py FOLDER

Files: train_x.npy (1437 x 1 x 8 x 8, float32 in [0, 1]), train_y.npy (1437, int64), test_x.npy and test_y.npy (360 of each).
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

TEST_IMAGES = 360


def write(folder):
    digits = load_digits()
    x = (digits.images / 16.0).astype(np.float32)[:, None]
    y = digits.target.astype(np.int64)
    order = np.random.RandomState(0).permutation(len(x))
    test, train = order[:TEST_IMAGES], order[TEST_IMAGES:]
    for name, rows in (("train", train), ("test", test)):
        np.save(Path(folder) / f"{name}_x.npy", x[rows])
        np.save(Path(folder) / f"{name}_y.npy", y[rows])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(sys.argv[1])
