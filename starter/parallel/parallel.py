"""Several GPUs: one model over two of them, one batch over all of them, one job over processes.

Hand in this file. Keep the names and the order of the parameters: functions and classes are found
by name and called with arguments in that order.

There are GPUs called ``cuda:0`` and ``cuda:1`` wherever this file is graded. Where you have none,
``python -m grader.vgpu --gpus 2 your_script.py`` runs a script of yours on virtual ones. Nothing at
the level of this module may need them: put what you try out into the notebook, or below
``if __name__ == "__main__":``.
"""

import copy
from collections.abc import Callable, Sequence
from multiprocessing import Pool
from typing import Any

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
        raise NotImplementedError("__init__ is not written yet")

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
        raise NotImplementedError("forward is not written yet")


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
    ``layer4`` and ``fc``.
    """

    def __init__(self) -> None:
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        raise NotImplementedError("__init__ is not written yet")

    def forward(self, x: Tensor) -> Tensor:
        """Return what the whole network would return; one activation travels.

        Args:
            x: Images of shape (N, 3, H, W), on ``cuda:0``.

        Returns:
            Scores of shape (N, 1000), on ``cuda:1``.
        """
        raise NotImplementedError("forward is not written yet")


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
    parts than devices.

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
