#!/usr/bin/env python3
"""Exports a small convolutional net for 8 x 8 images of digits, with freshly initialised weights.

    make_digits_net.py FILE.onnx

Needs PyTorch (Debian: python3-torch). BatchNormalization and Dropout stay in the graph, and the first dimension is the
symbol `batch`.
"""

import sys

import torch
from torch import nn


def digits_net():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(128, 128),
        nn.ReLU(),
        nn.Dropout(0.25),
        nn.Linear(128, 10),
    )


def main(path):
    torch.manual_seed(0)
    torch.onnx.export(
        digits_net().train(),
        torch.zeros(2, 1, 8, 8),
        path,
        input_names=["x"],
        output_names=["logits"],
        dynamic_axes={"x": {0: "batch"}, "logits": {0: "batch"}},
        opset_version=17,
        training=torch.onnx.TrainingMode.TRAINING,
        do_constant_folding=False,
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
