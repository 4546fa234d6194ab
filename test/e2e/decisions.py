"""The discrete decisions of a step: which units a ReLU lets through, which element of its window a maximum pool takes.

Two correct programs take different ones where rounding moves a unit across zero or one element above another. Such a unit's gradient is then wholly
there or wholly gone, so that a share f of flipped units is an error of sqrt(f), far above rounding. A gradient can be compared to rounding
only with a reference that takes the same decisions; whether these were right is a question of its own, answered where they are taken.
"""

from contextlib import contextmanager
from unittest import mock

import torch
from torch.nn import functional


class Decisions:
    """What a run decided, in its own order: by the outputs of its ReLUs and by what entered its maximum pools."""

    def __init__(self, relu_outputs, pool_inputs):
        self.relu_outputs = list(relu_outputs)
        self.pool_inputs = list(pool_inputs)


class Tally:
    """Decisions of one kind that the reference would have taken otherwise, and how close to the kink it was there."""

    # Rounding moves a unit by this share of its channel's root mean square at most, and few units lie that near.
    NEAR, SHARE = 3e-4, 1e-5

    def __init__(self):
        self.total = self.flipped = 0
        self.worst = 0.0

    def add(self, values, flipped, distance):
        """`distance`: of each unit from its kink, to be seen beside the size of its channel (of its layer where that is fully connected)."""
        self.total += flipped.numel()
        self.flipped += int(flipped.sum())
        if flipped.any():
            axes = [axis for axis in range(values.dim()) if axis != 1 or values.dim() == 2]
            size = values.square().mean(axes, keepdim=True).sqrt().expand_as(flipped)
            self.worst = max(self.worst, (distance[flipped] / size[flipped]).max().item())

    def wrong(self):
        """Whether rounding does not explain what differs."""
        return not self.worst <= self.NEAR or self.flipped > self.SHARE * self.total

    def __str__(self):
        return f"{self.flipped} of {self.total} (at most {self.worst:.1e} from the kink)"


class Followed:
    """Stands in for PyTorch's ReLU and maximum pool: takes given decisions and tallies those that PyTorch would not have taken."""

    def __init__(self, decisions):
        self.relus, self.pools = Tally(), Tally()
        self._relu_outputs, self._pool_inputs = list(decisions.relu_outputs), list(decisions.pool_inputs)

    @staticmethod
    def _next(values, x, what):
        """The run's tensor that belongs to the network's `x`, on its device."""
        if not values:
            raise ValueError(f"the network has more {what} than the run")
        value = values.pop(0)
        if value.shape != x.shape:
            raise ValueError(f"a {what} has shape {list(value.shape)} in the run, {list(x.shape)} in the network")
        return value.to(x.device)

    def relu(self, x, inplace=False):
        on = self._next(self._relu_outputs, x, "ReLU") > 0
        values = x.detach()
        self.relus.add(values, on != (values > 0), values.abs())
        return x * on

    def pool(self, x, *window, **more):
        # PyTorch's pool takes the first maximum of a window, as ours does.
        _, places = functional_pool(self._next(self._pool_inputs, x, "maximum pool"), *window, **{**more, "return_indices": True})
        taken = x.flatten(2).gather(2, places.flatten(2)).view_as(places)
        largest = functional_pool(x.detach(), *window, **{**more, "return_indices": False})
        gap = largest - taken.detach()
        self.pools.add(x.detach(), gap > 0, gap)
        return taken

    def finish(self):
        if self._relu_outputs or self._pool_inputs:
            raise ValueError("the network has fewer ReLUs or maximum pools than the run")


class Recorder:
    """Stands in for PyTorch's ReLU and maximum pool: computes them and keeps what they decide by."""

    def __init__(self):
        self.decisions = Decisions([], [])

    def relu(self, x, inplace=False):
        result = functional_relu(x)
        self.decisions.relu_outputs.append(result.detach())
        return result

    def pool(self, x, *window, **more):
        self.decisions.pool_inputs.append(x.detach().clone())
        return functional_pool(x, *window, **more)


functional_relu, functional_pool = functional.relu, functional.max_pool2d


@contextmanager
def in_place_of_torch(stand_in):
    """ReLUs and maximum pools of PyTorch's modules go to the stand-in, in the order of the calls."""
    with mock.patch.object(functional, "relu", stand_in.relu), mock.patch.object(functional, "max_pool2d", stand_in.pool):
        yield stand_in
