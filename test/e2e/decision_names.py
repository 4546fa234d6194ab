"""Which tensors of a model hold the decisions of a step (decisions.py), in the model's order."""

import onnx


def decision_names(model):
    """The outputs of its ReLUs, and what enters its maximum pools."""
    nodes = onnx.load(model, load_external_data=False).graph.node
    return [node.output[0] for node in nodes if node.op_type == "Relu"], [node.input[0] for node in nodes if node.op_type == "MaxPool"]
