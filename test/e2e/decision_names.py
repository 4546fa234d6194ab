"""Which tensors of a model hold the decisions of a step (decisions.py), in the model's order."""

import onnx


def decision_names(model):
    """The outputs of its ReLUs, and what enters its maximum pools. Each as a list of names of which a plan has one: where a ReLU went behind a pool, what
    entered it takes the same decisions."""
    nodes = onnx.load(model, load_external_data=False).graph.node
    before = {node.output[0]: node.input[0] for node in nodes if node.op_type == "Relu"}
    names = [[output, before[output]] for output in before], [node.input[0] for node in nodes if node.op_type == "MaxPool"]
    return names[0], [[name, before[name]] if name in before else [name] for name in names[1]]
