"""Training with mini-batches: data sets and loaders, the usual loop, checkpoints, and what follows.

Hand in this file. Keep the names and the order of the parameters: functions and classes are found
by name and called with arguments in that order.

Words used below: there are n rows; ``X`` has shape (n, p) and ``y`` shape (n, 1). A *net* is any
``torch.nn.Module`` that turns (k, p) into (k, 1), without a sigmoid at its end. An *epoch* is one
way through all rows, a *step* one call of ``optimizer.step()``. No function may change ``X`` or
``y``.
"""

import copy
import json
import math
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, TensorDataset


def make_loader(X: Tensor, y: Tensor, batch_size: int, shuffle: bool) -> DataLoader:
    """Make a loader of mini-batches.

    Args:
        X: Shape (n, …).
        y: Shape (n, …): row i belongs to row i of ``X``.
        batch_size: Rows in a batch. The last batch of an epoch has what is left.
        shuffle: Whether the rows come in another order in each epoch.

    Returns:
        A ``DataLoader`` that gives pairs ``(xx, yy)``; each epoch has every row once, beside its
        own label.

    Hint:
        ``TensorDataset``. A loader does not shuffle unless it is told to.
    """
    raise NotImplementedError("make_loader is not written yet")


class DigitDataset(Dataset):
    """Images of digits in a folder, read one at a time.

    The folder holds the folders ``3`` and ``7``, and each of these holds files ``*.npy``: an array
    of shape (28, 28) and dtype uint8, brightnesses from 0 to 255.
    """

    def __init__(self, root: str | Path) -> None:
        """Find the files. Nothing is read from them yet: a set may be larger than the memory.

        Args:
            root: The folder that holds ``3`` and ``7``.
        """
        raise NotImplementedError("DigitDataset.__init__ is not written yet")

    def __len__(self) -> int:
        """Return the number of images."""
        raise NotImplementedError("DigitDataset.__len__ is not written yet")

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        """Read an image.

        Args:
            index: From 0 to ``len(self) - 1``; the order of the images is yours.

        Returns:
            The image, shape (784,), float32, brightnesses from 0 to 1; and its label, shape (1,),
            float32: 0 for one of the digits and 1 for the other, whichever you like.

        Raises:
            IndexError: There is no such image.

        Hint:
            ``np.load``.
        """
        raise NotImplementedError("DigitDataset.__getitem__ is not written yet")


def build_net() -> torch.nn.Module:
    """Make the lecture's net: 784 inputs, 30 hidden numbers, a ReLU, 1 output, and no sigmoid.

    Returns:
        A net with torch's own random starting weights: 23 581 of them.
    """
    raise NotImplementedError("build_net is not written yet")


def train_minibatch(
    net: torch.nn.Module,
    loader: DataLoader,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    epochs: int,
    device: str = "cpu",
) -> list[float]:
    """Train a net by mini-batches: one step for each batch.

    Args:
        net: Is there already; move it to ``device``. It trains in train mode, and is afterwards in
            the mode in which it came. Each row passes through it once an epoch; a look in between,
            without gradients, is free.
        loader: Gives pairs ``(xx, yy)``. Only the batch at hand may be on ``device``: its memory
            must not grow with the rows.
        loss_fn: Of the net's output and the labels: the mean over the rows of a batch.
        optimizer: Of the net's weights.
        epochs: How often to go through the loader.
        device: Such as ``cpu`` or ``cuda:0``.

    Returns:
        For each epoch the mean of the losses **over its rows**, as Python floats. The losses are
        those that the steps were made from. A last batch of 2 rows counts as 2 rows, not as a
        batch.

    Hint:
        Gradients add up until they are set to zero. Whether that happens after each step or before
        each ``backward()``, and by the optimiser or the net, is yours.
    """
    raise NotImplementedError("train_minibatch is not written yet")


def predict(net: torch.nn.Module, X: Tensor, batch_size: int) -> Tensor:
    """Compute the probabilities of all rows, a batch at a time.

    Args:
        net: Without a sigmoid at its end. It predicts in eval mode, and is afterwards in the mode
            in which it came.
        X: Shape (n, p).
        batch_size: The most rows that the net may get at once.

    Returns:
        Shape (n, 1): row i is the probability for row i of ``X``. No gradient is recorded, neither
        on the way nor in the result.
    """
    raise NotImplementedError("predict is not written yet")


def train_full_batch(
    net: torch.nn.Module,
    X: Tensor,
    y: Tensor,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    epochs: int = 200,
) -> list[float]:
    """Train a net with all rows in each step, to compare with: one step is one epoch.

    Args:
        net: To train.
        X: Shape (n, p).
        y: Shape (n, 1).
        loss_fn: As for ``train_minibatch``.
        optimizer: Of the net's weights.
        epochs: Number of steps.

    Returns:
        For each step the loss that it was made from, as Python floats.
    """
    raise NotImplementedError("train_full_batch is not written yet")


def save_checkpoint(
    path: str | Path,
    net: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    epoch: int,
    loss: float,
) -> None:
    """Save all that is needed to go on training, in one file.

    An older file of that name is replaced at once or not at all: if saving fails half-way, the
    older one is still there, whole.

    Args:
        path: File to write.
        net: Its state becomes the item ``model_state_dict``.
        optimizer: Its state becomes ``optimizer_state_dict``.
        epoch: Number of the last epoch, becomes ``epoch``.
        loss: The last epoch's, becomes ``loss``.

    Hint:
        ``torch.save`` to another name in the same folder, then ``os.replace``.
    """
    raise NotImplementedError("save_checkpoint is not written yet")


def load_checkpoint(
    path: str | Path, net: torch.nn.Module, optimizer: torch.optim.Optimizer
) -> tuple[int, float]:
    """Load what ``save_checkpoint`` saved, into a net and an optimiser that are there already.

    Training goes on from there as if it had never stopped, to the last bit.

    Args:
        path: File to read. It may come from anybody: nothing in it may be run.
        net: Of the same form as the saved one.
        optimizer: Of the same kind as the saved one.

    Returns:
        ``epoch`` and ``loss`` as saved.

    Hint:
        ``torch.load`` has an argument ``weights_only``.
    """
    raise NotImplementedError("load_checkpoint is not written yet")


class EarlyStopping:
    """Says when to stop training, and keeps the best weights.

    Attributes:
        best_loss: The best loss so far; infinite before the first.
    """

    def __init__(self, patience: int, min_delta: float = 0.0) -> None:
        """Begin.

        Args:
            patience: How many epochs in a row may bring no improvement; with the last of them
                training stops.
            min_delta: A loss is an improvement if it is below the best one by **more** than this.
        """
        raise NotImplementedError("EarlyStopping.__init__ is not written yet")

    def step(self, loss: float, net: torch.nn.Module) -> bool:
        """Look at an epoch.

        Args:
            loss: Of the epoch. Once it is NaN, training stops at once.
            net: Its weights (and other state) are kept if the loss is an improvement, as they are
                now: the net goes on training.

        Returns:
            Whether training is to stop.
        """
        raise NotImplementedError("EarlyStopping.step is not written yet")

    def restore(self, net: torch.nn.Module) -> None:
        """Put the best weights back into the net."""
        raise NotImplementedError("EarlyStopping.restore is not written yet")


def freeze_backbone(model: torch.nn.Module, head: torch.nn.Module) -> list[torch.nn.Parameter]:
    """Prepare a pretrained model so that only its head trains.

    All of the model that is not its head is the *backbone*. A loop that follows leaves it as it is,
    to the last bit: its weights get no gradients, and its modules are in eval mode, because
    BatchNorm in train mode moves its statistics whether or not anything has a gradient. The head is
    in train mode, and all of its weights get gradients, whatever was set before. (A later
    ``model.train()`` would wake the backbone again; the loop does not call it.)

    Args:
        model: The whole.
        head: A module somewhere inside of it.

    Returns:
        The weights to give to the optimiser: those of the head, in its own order.
    """
    raise NotImplementedError("freeze_backbone is not written yet")


def log_training(writer: Any, history: dict[str, list[float]]) -> None:
    """Log a training for TensorBoard.

    Args:
        writer: A ``torch.utils.tensorboard.SummaryWriter``. It stays open.
        history: Tag → a number for each epoch, such as ``{"Loss/train": [0.7, 0.4]}``. The first
            epoch is step 0. When the function returns, everything is in the writer's file.

    Hint:
        What is logged may wait in memory for two minutes, unless the writer is told to write it.
    """
    raise NotImplementedError("log_training is not written yet")


def log_to_wandb(config: dict[str, Any], history: list[dict[str, float]]) -> None:
    """Log a training for Weights & Biases, without a network. Optional.

    Args:
        config: Settings of the training, such as ``{"epochs": 2}``; kept with the run.
        history: For each epoch what to log, such as ``{"loss": 0.7}``. The first epoch is step 0.

    Hint:
        ``wandb.init`` has arguments ``config`` and ``mode``, and a run is to be finished. Import
        wandb inside the function, so that the rest works where it is not installed.
    """
    raise NotImplementedError("log_to_wandb is not written yet")


def search(
    config_space: dict[str, list[Any] | tuple[float, float]],
    train_fn: Callable[[dict[str, Any]], float],
    num_samples: int,
    seed: int = 0,
) -> tuple[dict[str, Any], float]:
    """Search for good hyper-parameters by trying random ones.

    Args:
        config_space: Name → a list of values, all equally likely; or a tuple (low, high) of
            positive numbers: any number between them, its **logarithm** uniform.
        train_fn: Trains with a configuration (name → value) and returns the loss. Where training
            fails, that is NaN.
        num_samples: How many configurations to try, each of them once.
        seed: The same seed tries the same configurations, another one others.

    Returns:
        The configuration with the least loss, and that loss.

    Hint:
        ``random.Random(seed)`` is a source of random numbers of your own. A uniform logarithm:
        ``exp(uniform(log(low), log(high)))``.
    """
    raise NotImplementedError("search is not written yet")


def best_trial(folder: str | Path, metric: str) -> tuple[dict[str, Any], float]:
    """Find the best trial among the results that Ray Tune saved.

    Ray Tune is for running on your own machine; here only its files are read. It leaves a folder
    for each trial, with the configuration in ``params.json``, and in ``result.json`` a line of JSON
    for each report: a dict with the metrics. A trial that died may have left no ``result.json``.

    Args:
        folder: Holds the trials' folders.
        metric: Name of the metric, such as ``loss``; less is better. NaN (which Python's ``json``
            reads) is never best.

    Returns:
        Of the trial with the least value in **any** of its reports: its configuration, and that
        value.
    """
    raise NotImplementedError("best_trial is not written yet")
