"""Several GPUs: one model over two of them, one batch over all of them, one job over processes.

Hand in this file. Keep the names and the order of the parameters: functions and classes are found
by name and called with arguments in that order.

There are GPUs called ``cuda:0`` and ``cuda:1`` wherever this file is graded. Where you have none,
``python -m grader.vgpu --gpus 2 your_script.py`` runs a script of yours on virtual ones. Nothing at
the level of this module may need them: put what you try out into the notebook, or below
``if __name__ == "__main__":``.
"""

import copy
import functools
import time
from collections.abc import Callable, Sequence
from multiprocessing import Pool
from typing import Any

import numpy as np
import torch
from resnet import Bottleneck, ResNet
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class ToyModel(nn.Module):
    """Two linear layers on two GPUs, with a ReLU between them.

    Attributes:
        net1: A ``Linear`` from 10 to 10, on ``cuda:0``.
        net2: A ``Linear`` from 10 to 5, on ``cuda:1``.
    """

    def __init__(self) -> None:
        super().__init__()
        raise NotImplementedError("ToyModel.__init__ is not written yet")

    def forward(self, x: Tensor) -> Tensor:
        """Return ``net2(relu(net1(x)))``.

        What travels is the input, to ``cuda:0``, and the activation, to ``cuda:1``: once each.
        Parameters stay where they are.

        Args:
            x: Shape (N, 10), on any device.

        Returns:
            Shape (N, 5), on ``cuda:1``. A label that a loss compares with it must be there too;
            that is for the caller to see to.
        """
        raise NotImplementedError("ToyModel.forward is not written yet")


def train_step(
    model: nn.Module,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    inputs: Tensor,
    labels: Tensor,
) -> float:
    """Make one training step: forget old gradients, forward, backward, update.

    Args:
        model: Moves its inputs itself, and answers on a device that you need not know beforehand.
            The outputs stay there.
        loss_fn: Called as ``loss_fn(outputs, labels)``, both on the same device.
        optimizer: Of the model's parameters.
        inputs: A batch, on any device.
        labels: Its labels, on any device.

    Returns:
        The loss of this batch before the update, as a Python float.

    Hint:
        A loss that you keep as a tensor keeps the whole graph behind it alive.
    """
    raise NotImplementedError("train_step is not written yet")


class ModelParallelResNet50(ResNet):
    """A ResNet-50 for 1000 classes of which each of two GPUs holds a part.

    On ``cuda:0`` are ``conv1``, ``bn1``, ``layer1`` and ``layer2``, on ``cuda:1`` are ``layer3``,
    ``layer4`` and ``fc``. Neither GPU needs memory for more than its own part.
    """

    def __init__(self) -> None:
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        raise NotImplementedError("ModelParallelResNet50.__init__ is not written yet")

    def forward(self, x: Tensor) -> Tensor:
        """Return what the whole network would return; one activation travels.

        Args:
            x: Images of shape (N, 3, H, W), on ``cuda:0``.

        Returns:
            Scores of shape (N, 1000), on ``cuda:1``.
        """
        raise NotImplementedError("ModelParallelResNet50.forward is not written yet")


def average_gradients(
    model: nn.Module,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    inputs: Tensor,
    labels: Tensor,
    devices: Sequence[str],
) -> float:
    """Compute the gradients of one batch on several devices: what data parallelism does, by hand.

    Put a copy of the model on each device, and give each copy its part of the batch, as
    ``inputs.chunk(len(devices))`` cuts it. Average the gradients of the copies so that they equal
    those of the whole batch. Parts may be of unequal size, and of a small batch there may be fewer
    parts than devices. That each device works on its own part is worth half of the points.

    Args:
        model: Its parameters are on ``devices[0]``, and stay as they were.
        loss_fn: Called as ``loss_fn(outputs, labels)``; a mean over the samples that it gets.
        inputs: The batch, shape (N, …), on the CPU.
        labels: Its labels, shape (N, …), on the CPU.
        devices: Names of devices, such as ``["cuda:0", "cuda:1"]``.

    Returns:
        The loss of the whole batch, as a Python float. The averaged gradients are in the ``grad``
        of the model's own parameters; what was there before is gone.

    Hint:
        ``copy.deepcopy`` copies a model with everything in it.
    """
    raise NotImplementedError("average_gradients is not written yet")


def to_data_parallel(model: nn.Module) -> nn.Module:
    """Return a model that spreads each batch over all GPUs and gathers the results on ``cuda:0``.

    Args:
        model: On the CPU. Its own parameters are those that are trained: they go to ``cuda:0``, and
            the gradients of all GPUs come together in them.

    Returns:
        A module: called with a batch on the CPU, it returns what ``model`` would, on ``cuda:0``.

    Hint:
        ``torch.nn`` has it.
    """
    raise NotImplementedError("to_data_parallel is not written yet")


def pool_map(f: Callable[[Any], Any], xs: Sequence[Any], processes: int = 5) -> list[Any]:
    """Apply a function to many arguments in several processes.

    Args:
        f: A function defined at the level of a module, so that other processes find it.
        xs: Its arguments.
        processes: Number of processes. None of them is left when this function returns.

    Returns:
        ``[f(x) for x in xs]``: in the order of ``xs``, whichever is done first.
    """
    raise NotImplementedError("pool_map is not written yet")


def ddp_worker(
    rank: int,
    world_size: int,
    model: nn.Module,
    dataset: Dataset,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    *,
    epochs: int,
    batch_size: int,
    lr: float,
) -> None:
    """Train a model as one of several processes; this function runs in each of them.

    Join the process group with the backend ``gloo``; address and port are in the environment
    (``MASTER_ADDR``, ``MASTER_PORT``), where ``init_process_group`` looks by itself. Let a
    ``DistributedSampler`` give this process its share of the data, another one in each epoch, and
    ``DistributedDataParallel`` average the gradients. Leave the group at the end.

    Args:
        rank: Number of this process, from 0 up.
        world_size: Number of processes.
        model: On the CPU. It is trained in place. Other processes may begin with other weights:
            those of rank 0 count.
        dataset: Pairs of an input and a label, the same in each process. Each sample is used once
            an epoch by one of the processes.
        loss_fn: Called as ``loss_fn(outputs, labels)``.
        epochs: How often to go through the data.
        batch_size: Samples of a step in each process.
        lr: Learning rate of ``torch.optim.SGD``, which is used without momentum.
    """
    raise NotImplementedError("ddp_worker is not written yet")


class PipelineParallelResNet50(ModelParallelResNet50):
    """A ``ModelParallelResNet50`` whose two GPUs work on parts of the batch at the same time.

    Args:
        split_size: Images of a part; the last part may be smaller.
    """

    def __init__(self, split_size: int = 20) -> None:
        super().__init__()
        self.split_size = split_size

    def forward(self, x: Tensor) -> Tensor:
        """Return what the whole network would return in eval mode.

        While ``cuda:1`` is busy with a part, ``cuda:0`` has the next one. No threads and no streams
        are needed: a call that starts work on a GPU returns before the work is done. A GPU works in
        the order in which it was given work, and a copy between two GPUs keeps its place in the
        order of both.

        In training mode the numbers are others than those of the whole network, and rightly so:
        batch normalisation sees one part at a time.

        Args:
            x: Images of shape (N, 3, H, W), on ``cuda:0``; N need not be a multiple of
                ``split_size``, and may be less.

        Returns:
            Scores of shape (N, 1000), on ``cuda:1``, in the order of the images.
        """
        raise NotImplementedError("PipelineParallelResNet50.forward is not written yet")


def train(model: nn.Module, batches: int = 3, batch_size: int = 120) -> None:
    """Train a network on random images; what is timed, see ``time_training``.

    Args:
        model: Takes images on ``cuda:0``.
        batches: How many steps.
        batch_size: Images of a step, each of 3 × 128 × 128.
    """
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    loss_fn = nn.MSELoss()
    classes = torch.randint(1000, (batch_size,))
    for _ in range(batches):
        inputs = torch.randn(batch_size, 3, 128, 128)
        labels = nn.functional.one_hot(classes, 1000).float()
        optimizer.zero_grad()
        outputs = model(inputs.to("cuda:0"))
        loss_fn(outputs, labels.to(outputs.device)).backward()
        optimizer.step()


def time_training(model_fn: Callable[[], nn.Module], repeats: int = 10) -> tuple[float, float]:
    """Measure how long ``train(model)`` takes.

    Make the model and call ``train`` with it once before the first measurement: a first call pays
    for much that later ones do not. Then measure it ``repeats`` times, with the same model. Work on
    a GPU goes on after the call that started it has returned: let every GPU finish before you read
    a clock.

    Args:
        model_fn: Makes the model. How long that takes is not measured.
        repeats: Number of measurements.

    Returns:
        Mean and standard deviation of the measurements in seconds, as ``numpy.mean`` and
        ``numpy.std`` define them (divisor ``repeats``).
    """

    raise NotImplementedError("time_training is not written yet")


def plot_times(
    means: Sequence[float], stds: Sequence[float], labels: Sequence[str], path: str
) -> None:
    """Draw execution times as bars with error bars, and save the picture.

    Args:
        means: Height of each bar, in seconds.
        stds: Standard deviation of each, to be drawn upwards and downwards.
        labels: Name of each, to be written below it.
        path: Name of the file; its ending (``.png`` or ``.svg``) says what sort of picture.

    Hint:
        ``Axes.bar`` takes ``yerr``. Say on the axis what is measured, and in what unit.
    """
    import matplotlib.pyplot as plt  # noqa: PLC0415  takes a second; nothing else here needs it

    raise NotImplementedError("plot_times is not written yet")


def best_split_size(
    candidates: Sequence[int], repeats: int = 10
) -> tuple[int, dict[int, tuple[float, float]]]:
    """Find the split size with which a ``PipelineParallelResNet50`` trains fastest.

    Args:
        candidates: Split sizes to try, in this order.
        repeats: Handed on to ``time_training``.

    Returns:
        The candidate with the smallest mean, of equal ones the first; and for each candidate what
        ``time_training`` returned.
    """
    raise NotImplementedError("best_split_size is not written yet")
