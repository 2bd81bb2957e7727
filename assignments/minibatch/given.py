"""Runs in the actor, beside the submission: what autograd, a GPU or a writer needs beside it.

What these functions say scores nothing: scenario.py compares the numbers that training leads to.
"""

from __future__ import annotations

import os
import pkgutil
from collections.abc import Mapping

import torch
from torch.utils.data import DataLoader, TensorDataset

from grader.student_process.api import OldGradients, logged, placement, watching  # noqa: F401  built by name


def build(name, *args, **options):
    """Make an object of a class that is named here, or in torch: ``nn.Linear``."""
    made = globals().get(name) or pkgutil.resolve_name(f"torch.{name}")
    return made(*args, **options)


def net(dtype, *layers, kind="nn.Sequential"):
    """Make a net of layers, each an object or what to build it from."""
    made = [build(*layer) if isinstance(layer, tuple) else layer for layer in layers]
    return build(kind, *made).to(dtype)


def plain(value):
    """Return a value in Python's own numbers, for numpy's and torch's are as good."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return value


def descend(model, stepper, x, y):
    """Make three steps."""
    for _ in range(3):
        loss = torch.nn.functional.mse_loss(model(x), y)
        stepper.zero_grad()
        loss.backward()
        stepper.step()


class _Norm(torch.nn.BatchNorm1d):
    """Learns its statistics from passes that record gradients: a look in between is free."""

    def forward(self, x):
        self.track_running_stats = torch.is_grad_enabled()
        return super().forward(x)


class _Moody(torch.nn.Sequential):
    """Layers whose own mode decides their answer, too."""

    def forward(self, x):
        answer = super().forward(x)
        return answer if self.training else -answer


class _Lopsided(torch.nn.Module):
    """A loss that tells its two arguments apart."""

    def forward(self, output, target):
        return torch.nn.functional.mse_loss(output, target) + 0.3 * (output - target).mean()


class Shrinking(torch.optim.SGD):
    """Each step is shorter than the one before, so that a step too many shows in the weights."""

    _steps = 0

    def step(self, closure=None):
        """Make a step."""
        for group in self.param_groups:
            group["lr"] = 0.05 / (1 + 0.3 * self._steps)
        self._steps += 1
        return super().step(closure)


def train_on_gpu(student, leaves, copies, batch_size, times):
    """Train on a GPU from rows that come so many times, and write down what is computed."""
    model = net(leaves["x"].dtype, ("nn.Linear", 3, 2), ("nn.Tanh",), ("nn.Linear", 2, 1))
    with logged() as log:
        for name, leaf in leaves.items():
            log.leaf(name, leaf)
        model.load_state_dict({name: leaves[name] for name in model.state_dict()})
        x, y = (leaves[name].repeat(copies, 1) for name in "xy")
        stepper, loss_fn = torch.optim.SGD(model.parameters(), lr=0.02), torch.nn.MSELoss()
        loader = DataLoader(TensorDataset(x, y), batch_size)
        log.begin("training", *leaves)
        with watching() as seen:
            losses = student.train_minibatch(model, loader, loss_fn, stepper, times, "cuda:0")
        weights = dict(model.named_parameters())
        log.end("training", weights)
        log.place(model)
    return {
        "losses": losses,
        "weights": weights,
        "log": log.as_values(),
        "claims": {"training": seen.report, "placement": placement(model)},
    }


class _Asking(torch.nn.Module):
    """A net whose answers come from the stage; its one weight is there to have one."""

    def __init__(self, ask):
        super().__init__()
        self.ask = ask
        self.scale = torch.nn.Parameter(torch.ones(()))

    def forward(self, x):
        return self.scale * self.ask(x.detach(), self.training, torch.is_grad_enabled())


class _Unsaveable(torch.nn.Module):
    """Breaks off whoever saves its state."""

    def get_extra_state(self):
        return self

    def __reduce__(self):
        raise RuntimeError("saving breaks off here")


def writer(folder):
    """Return a writer that keeps what it gets until it is told to write it, however busy we are."""
    from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415  an optional package

    made, kept = SummaryWriter(folder), []
    file = made.file_writer.event_writer
    add, flush = file.add_event, file.flush

    def write():
        while kept:
            add(kept.pop(0))
        flush()

    file.add_event, file.flush = kept.append, write
    return made


def is_open(writer):
    """Tell whether a writer has its file still open."""
    return writer.file_writer is not None


def log_offline(student, folder, config, history):
    """Have a run logged into a folder."""
    import wandb  # noqa: PLC0415  an optional package

    os.environ["WANDB_DIR"] = folder
    student.log_to_wandb(config, history)
    # What writes the file is a process of its own, which may be behind.
    wandb.teardown()


def train_fn(ask):
    """Return a function to be searched, which asks the stage."""
    return lambda config: ask(plain(config))
