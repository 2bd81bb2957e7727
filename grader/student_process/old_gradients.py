"""Whether gradients of an earlier step were still there, noticed beside the submission.

Not a matter of devices: it runs where they run, in the student process, and what it says decides no
points.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import nn


class OldGradients:
    """Notices a backward pass that adds to gradients which a step has used already.

    Attributes:
        met: There was one.

    Args:
        model: Whose parameters are watched.
    """

    def __init__(self, model: nn.Module) -> None:
        self.met = False
        self._before: dict[torch.Tensor, torch.Tensor] = {}
        self._stale: dict[torch.Tensor, bool] = {}
        for weight in model.parameters():
            weight.register_hook(partial(self._arrives, weight))  # type: ignore[no-untyped-call]
            weight.register_post_accumulate_grad_hook(self._added)  # type: ignore[no-untyped-call]

    def _arrives(self, weight: torch.Tensor, _: torch.Tensor) -> None:
        # Passes between two steps are meant to add up; only a weight that moved has had its step.
        moved = not torch.equal(weight, self._before.get(weight, weight))
        self._stale[weight] = moved and weight.grad is not None and bool(weight.grad.any())
        self._before[weight] = weight.detach().clone()

    def _added(self, weight: torch.Tensor) -> None:
        # torch.autograd.grad() never gets here: it adds to nothing.
        self.met |= self._stale.get(weight, False)
