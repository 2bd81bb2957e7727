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
    # BEGIN SOLUTION
    return DataLoader(TensorDataset(X, y), batch_size=batch_size, shuffle=shuffle)
    # END SOLUTION


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
        # BEGIN SOLUTION
        self.files = sorted(Path(root).glob("[37]/*.npy"))
        # END SOLUTION

    def __len__(self) -> int:
        """Return the number of images."""
        # BEGIN SOLUTION
        return len(self.files)
        # END SOLUTION

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
        # BEGIN SOLUTION
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).reshape(-1) / 255
        return image, torch.tensor([1.0 if file.parent.name == "3" else 0.0])
        # END SOLUTION


def build_net() -> torch.nn.Module:
    """Make the lecture's net: 784 inputs, 30 hidden numbers, a ReLU, 1 output, and no sigmoid.

    Returns:
        A net with torch's own random starting weights: 23 581 of them.
    """
    # BEGIN SOLUTION
    return torch.nn.Sequential(
        torch.nn.Linear(in_features=784, out_features=30),
        torch.nn.ReLU(),
        torch.nn.Linear(in_features=30, out_features=1),
    )
    # END SOLUTION


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
    # BEGIN SOLUTION
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for batch, labels in loader:
            xx, yy = batch.to(device), labels.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses
    # END SOLUTION


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
    # BEGIN SOLUTION
    was_training = net.training
    net.eval()
    with torch.no_grad():
        parts = [torch.sigmoid(net(xx)) for xx in X.split(batch_size)]
    net.train(was_training)
    return torch.cat(parts)
    # END SOLUTION


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
    # BEGIN SOLUTION
    losses = []
    for _ in range(epochs):
        loss = loss_fn(net(X), y)
        loss.backward()
        optimizer.step()
        net.zero_grad()
        losses.append(loss.item())
    return losses
    # END SOLUTION


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
    # BEGIN SOLUTION
    state = {
        "epoch": epoch,
        "model_state_dict": net.state_dict(),
        "optimizer_state_dict": optimizer.state_dict(),
        "loss": loss,
    }
    torch.save(state, f"{path}.part")
    os.replace(f"{path}.part", path)  # noqa: PTH105  as in the hint
    # END SOLUTION


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
    # BEGIN SOLUTION
    state = torch.load(path, weights_only=True)
    net.load_state_dict(state["model_state_dict"])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["epoch"], state["loss"]
    # END SOLUTION


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
        # BEGIN SOLUTION
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = math.inf
        self.waited = 0
        self.best_state = {}
        # END SOLUTION

    def step(self, loss: float, net: torch.nn.Module) -> bool:
        """Look at an epoch.

        Args:
            loss: Of the epoch. Once it is NaN, training stops at once.
            net: Its weights (and other state) are kept if the loss is an improvement, as they are
                now: the net goes on training.

        Returns:
            Whether training is to stop.
        """
        # BEGIN SOLUTION
        if math.isnan(loss):
            return True
        if loss < self.best_loss - self.min_delta:
            self.best_loss = loss
            self.waited = 0
            self.best_state = copy.deepcopy(net.state_dict())
        else:
            self.waited += 1
        return self.waited >= self.patience
        # END SOLUTION

    def restore(self, net: torch.nn.Module) -> None:
        """Put the best weights back into the net."""
        # BEGIN SOLUTION
        net.load_state_dict(self.best_state)
        # END SOLUTION


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
    # BEGIN SOLUTION
    model.requires_grad_(False)
    head.requires_grad_(True)
    model.eval()
    head.train()
    return list(head.parameters())
    # END SOLUTION


def log_training(writer: Any, history: dict[str, list[float]]) -> None:
    """Log a training for TensorBoard.

    Args:
        writer: A ``torch.utils.tensorboard.SummaryWriter``. It stays open.
        history: Tag → a number for each epoch, such as ``{"Loss/train": [0.7, 0.4]}``. The first
            epoch is step 0. When the function returns, everything is in the writer's file.

    Hint:
        What is logged may wait in memory for two minutes, unless the writer is told to write it.
    """
    # BEGIN SOLUTION
    for tag, values in history.items():
        for epoch, value in enumerate(values):
            writer.add_scalar(tag, value, epoch)
    writer.flush()
    # END SOLUTION


def log_to_wandb(config: dict[str, Any], history: list[dict[str, float]]) -> None:
    """Log a training for Weights & Biases, without a network. Optional.

    Args:
        config: Settings of the training, such as ``{"epochs": 2}``; kept with the run.
        history: For each epoch what to log, such as ``{"loss": 0.7}``. The first epoch is step 0.

    Hint:
        ``wandb.init`` has arguments ``config`` and ``mode``, and a run is to be finished. Import
        wandb inside the function, so that the rest works where it is not installed.
    """
    # BEGIN SOLUTION
    import wandb  # noqa: PLC0415  not everybody has it

    run = wandb.init(project="minibatch", config=config, mode="offline")
    for step, values in enumerate(history):
        run.log(values, step=step)
    run.finish()
    # END SOLUTION


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
    # BEGIN SOLUTION
    dice = random.Random(seed)  # noqa: S311  no secrets here
    tried = []
    for _ in range(num_samples):
        config = {}
        for name, values in config_space.items():
            if isinstance(values, tuple):
                config[name] = math.exp(dice.uniform(math.log(values[0]), math.log(values[1])))
            else:
                config[name] = dice.choice(values)
        loss = train_fn(config)
        if not math.isnan(loss):
            tried.append((config, loss))
    return min(tried, key=lambda pair: pair[1])
    # END SOLUTION


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
    # BEGIN SOLUTION
    reports = []
    for results in Path(folder).glob("*/result.json"):
        config = json.loads(results.with_name("params.json").read_text())
        for line in results.read_text().splitlines():
            value = json.loads(line)[metric]
            if not math.isnan(value):
                reports.append((config, value))
    return min(reports, key=lambda pair: pair[1])
    # END SOLUTION


# BEGIN HIDDEN
def _sines(dice, n, p):
    """Rows no two alike, and labels that a small net can learn a little of."""
    x = dice.standard_normal((n, p))
    y = np.sin(x.sum(axis=1, keepdims=True)) + 0.1 * dice.standard_normal((n, 1))
    return torch.from_numpy(x), torch.from_numpy(y)


def rows(seed, n, batch, epochs, **ways):
    """Rows and labels, a batch size and a number of epochs; the last batch is unlike the others.

    Its labels are ten times as large, so that it matters how much it counts.
    """
    x, y = _sines(np.random.default_rng(seed), n, 3)
    y[n - n % batch :] *= 10
    return x, y, batch, epochs, *_way(**ways)


def lecture(seed, batch):
    """As many rows as in the lecture, but with two numbers each."""
    x, y = _sines(np.random.default_rng(seed), 12396, 2)
    return x, y, batch, 1, *_way(shrinking=1)


def _way(shuffle=0, shrinking=0, mode=0):
    """Whether to shuffle, the optimiser, and the mode of a net that normalizes."""
    optimizer = "Shrinking" if shrinking else "optim.SGD"
    return bool(shuffle), optimizer, (None, "train", "eval")[mode]


def rows_for_gpu(seed, n, batch, epochs):
    """As ``rows``, less what does not vary there."""
    return rows(seed, n, batch, epochs)[:4]


def numbered(seed, n, batch, times):
    """Rows that begin with their number, and labels that tell it; a number of epochs."""
    dice = np.random.default_rng(seed)
    x = torch.from_numpy(np.column_stack([np.arange(n), dice.integers(0, 9, n)]).astype(np.float32))
    return x, 1000 + torch.arange(n).reshape(-1, 1), batch, times


def digits_to_learn(seed, train, test):
    """Digits to train on and others to try the net on, as bytes; threes are 1."""
    import digits  # noqa: PLC0415  only generators need it

    labels = np.random.default_rng(seed).integers(0, 2, train + test)
    images = torch.from_numpy(digits.render(labels, seed % 2**32))
    y = torch.from_numpy(labels.astype(np.float32)).reshape(-1, 1)
    return images[:train], y[:train], images[train:], y[train:]


def digits_in_files(seed, n):
    """Digits, and which of them are threes."""
    import digits  # noqa: PLC0415  as above

    labels = np.random.default_rng(seed).permutation(np.arange(n) % 2)
    images = digits.render(labels, seed % 2**32)
    return torch.from_numpy(images), torch.from_numpy(labels)


def history(seed, epochs):
    """Two losses and an accuracy for each epoch."""
    dice = np.random.default_rng(seed)
    tags = ("Loss/train", "Loss/test", "Accuracy/train")
    # Eighths are exact in float32, in which event files keep them.
    return ({tag: (dice.integers(1, 80, epochs) / 8).tolist() for tag in tags},)


def run_history(seed, epochs):
    """Settings of a run, and what to log for each epoch."""
    dice = np.random.default_rng(seed)
    config = {"epochs": epochs, "batch_size": 2048, "learning_rate": 0.001}
    numbers = dice.integers(1, 80, (epochs, 2)) / 8
    return config, [{"loss": loss, "accuracy": accuracy} for loss, accuracy in numbers.tolist()]


def choices(seed, samples):
    """A space to search, a number of samples and a seed."""
    space = {"hidden": [8, 16, 32], "batch_size": [1024, 2048], "lr": (1e-4, 1e-1)}
    return space, samples, seed % 1000


def trials(seed, count):
    """What Ray Tune saved: folder → (configuration, reports); one trial died at once."""
    dice = np.random.default_rng(seed)
    saved = []
    for number in range(count):
        config = {"lr": float(dice.integers(1, 100)) / 1000, "hidden": int(2 ** (number + 2))}
        values = (dice.integers(20, 90, 4) / 8).tolist()
        reports = [
            {"training_iteration": turn + 1, "loss": value, "time_s": 0.5 * turn + value}
            for turn, value in enumerate(values)
        ]
        saved.append((f"train_{number:05d}", config, reports))
    # The best report is neither the last of its trial nor of the last trial, and one is NaN.
    best, lost = dice.permutation(count - 1)[:2]
    saved[best][2][1]["loss"] = float(dice.random())
    saved[lost][2][0]["loss"] = math.nan
    saved.append(("train_died", {"lr": 0.5, "hidden": 1}, []))
    return saved, "loss"


# END HIDDEN
