"""Residual networks in plain PyTorch, with the names that torchvision gives their parameters.

Use it where torchvision is not installed: a ``state_dict`` of torchvision's fits, and

    from torchvision.models.resnet import ResNet, Bottleneck

becomes

    from resnet import ResNet, Bottleneck

When your file is graded, both lines work. Weights cannot be downloaded.

He, Zhang, Ren, Sun: Deep Residual Learning for Image Recognition (2015), with the stride of a
bottleneck in its 3×3 convolution instead of its first 1×1, as is usual since. Initial weights:
He, Zhang, Ren, Sun: Delving Deep into Rectifiers (2015).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor, nn

__all__ = [
    "BasicBlock",
    "Bottleneck",
    "ResNet",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
]  # fmt: skip

Norm = Callable[[int], nn.Module]


def conv3x3(
    in_planes: int, out_planes: int, stride: int = 1, groups: int = 1, dilation: int = 1
) -> nn.Conv2d:
    """Return a 3×3 convolution that keeps height and width where the stride is 1."""
    return nn.Conv2d(
        in_planes, out_planes, 3, stride, dilation, dilation=dilation, groups=groups, bias=False
    )


def conv1x1(in_planes: int, out_planes: int, stride: int = 1) -> nn.Conv2d:
    """Return a 1×1 convolution."""
    return nn.Conv2d(in_planes, out_planes, 1, stride, bias=False)


class BasicBlock(nn.Module):
    """Two 3×3 convolutions beside a shortcut: the block of ResNet-18 and ResNet-34.

    Args:
        inplanes: Channels that come in.
        planes: Channels of the convolutions, and that go out.
        stride: Of the first convolution.
        downsample: Brings the shortcut to the size of the result; nothing where it has it already.
        groups: 1; other blocks have more.
        base_width: 64; other blocks have more.
        dilation: 1; other blocks have more.
        norm_layer: Makes a normalisation of so many channels; ``BatchNorm2d`` by default.
    """

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Module | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Norm | None = None,
    ) -> None:
        super().__init__()
        if groups != 1 or base_width != 64 or dilation != 1:
            raise ValueError("a BasicBlock has one group, base width 64 and no dilation")
        norm = norm_layer or nn.BatchNorm2d
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = norm(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """Return relu(shortcut + convolutions), shape (N, planes, H / stride, W / stride)."""
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(out)) + shortcut)


class Bottleneck(nn.Module):
    """1×1, 3×3 and 1×1 convolutions beside a shortcut: the block of ResNet-50 and deeper ones.

    Args:
        inplanes: Channels that come in.
        planes: Channels of the narrow part; four times as many go out.
        stride: Of the 3×3 convolution.
        downsample: Brings the shortcut to the size of the result; nothing where it has it already.
        groups: Of the 3×3 convolution.
        base_width: Channels of the narrow part for each 64 of ``planes``, in each group.
        dilation: Of the 3×3 convolution.
        norm_layer: Makes a normalisation of so many channels; ``BatchNorm2d`` by default.
    """

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Module | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Norm | None = None,
    ) -> None:
        super().__init__()
        norm = norm_layer or nn.BatchNorm2d
        width = planes * base_width // 64 * groups
        self.conv1 = conv1x1(inplanes, width)
        self.bn1 = norm(width)
        self.conv2 = conv3x3(width, width, stride, groups, dilation)
        self.bn2 = norm(width)
        self.conv3 = conv1x1(width, planes * self.expansion)
        self.bn3 = norm(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """Return relu(shortcut + convolutions), shape (N, 4·planes, H / stride, W / stride)."""
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        return self.relu(self.bn3(self.conv3(out)) + shortcut)


class ResNet(nn.Module):
    """A residual network: a stem, four layers of blocks, and a classifier.

    Its parts in the order in which they run: ``conv1``, ``bn1``, ``relu``, ``maxpool``, ``layer1``
    … ``layer4``, ``avgpool``, then a flatten, then ``fc``.

    Args:
        block: ``BasicBlock`` or ``Bottleneck``.
        layers: Number of blocks in each of the four layers.
        num_classes: Scores that come out.
        zero_init_residual: Let every block begin as its shortcut alone.
        groups: Handed to the blocks.
        width_per_group: Handed to the blocks as ``base_width``.
        replace_stride_with_dilation: For each of the layers 2 to 4, whether it keeps height and
            width and widens its convolutions instead.
        norm_layer: Makes a normalisation of so many channels; ``BatchNorm2d`` by default.
    """

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        layers: Sequence[int],
        num_classes: int = 1000,
        zero_init_residual: bool = False,
        groups: int = 1,
        width_per_group: int = 64,
        replace_stride_with_dilation: Sequence[bool] | None = None,
        norm_layer: Norm | None = None,
    ) -> None:
        super().__init__()
        self.groups = groups
        self.base_width = width_per_group
        self.inplanes = 64
        self.dilation = 1
        self._norm_layer: Norm = norm_layer or nn.BatchNorm2d
        dilate = replace_stride_with_dilation or (False, False, False)
        self.conv1 = nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = self._norm_layer(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self._make_layer(block, 64, layers[0])
        self.layer2 = self._make_layer(block, 128, layers[1], 2, dilate[0])
        self.layer3 = self._make_layer(block, 256, layers[2], 2, dilate[1])
        self.layer4 = self._make_layer(block, 512, layers[3], 2, dilate[2])
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)
        self._initialise(zero_init_residual)

    def _make_layer(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        planes: int,
        blocks: int,
        stride: int = 1,
        dilate: bool = False,
    ) -> nn.Sequential:
        """Return a layer; its first block brings the new number of channels, and the stride."""
        before = self.dilation
        if dilate:
            self.dilation *= stride
            stride = 1
        downsample = None
        out = planes * block.expansion
        if stride != 1 or self.inplanes != out:
            downsample = nn.Sequential(conv1x1(self.inplanes, out, stride), self._norm_layer(out))
        shared = (self.groups, self.base_width)
        first = block(self.inplanes, planes, stride, downsample, *shared, before, self._norm_layer)
        self.inplanes = out
        rest = [
            block(out, planes, 1, None, *shared, self.dilation, self._norm_layer)
            for _ in range(1, blocks)
        ]
        return nn.Sequential(first, *rest)

    def _initialise(self, zero_init_residual: bool) -> None:
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.ones_(module.weight)
                nn.init.zeros_(module.bias)
        for module in self.modules() if zero_init_residual else ():
            if isinstance(module, Bottleneck):
                nn.init.zeros_(module.bn3.weight)
            elif isinstance(module, BasicBlock):
                nn.init.zeros_(module.bn2.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Return scores of shape (N, num_classes) for images of shape (N, 3, H, W)."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


def _network(
    block: type[BasicBlock] | type[Bottleneck],
    layers: Sequence[int],
    weights: object,
    options: dict[str, Any],
) -> ResNet:
    if weights is not None or options.pop("pretrained", False):
        raise ValueError("there are no trained weights here; leave out weights= and pretrained=")
    options.pop("progress", None)
    return ResNet(block, layers, **options)


def resnet18(*, weights: object = None, **options: Any) -> ResNet:
    """Return a ResNet-18; options are those of ``ResNet``."""
    return _network(BasicBlock, (2, 2, 2, 2), weights, options)


def resnet34(*, weights: object = None, **options: Any) -> ResNet:
    """Return a ResNet-34; options are those of ``ResNet``."""
    return _network(BasicBlock, (3, 4, 6, 3), weights, options)


def resnet50(*, weights: object = None, **options: Any) -> ResNet:
    """Return a ResNet-50; options are those of ``ResNet``."""
    return _network(Bottleneck, (3, 4, 6, 3), weights, options)


def resnet101(*, weights: object = None, **options: Any) -> ResNet:
    """Return a ResNet-101; options are those of ``ResNet``."""
    return _network(Bottleneck, (3, 4, 23, 3), weights, options)


def resnet152(*, weights: object = None, **options: Any) -> ResNet:
    """Return a ResNet-152; options are those of ``ResNet``."""
    return _network(Bottleneck, (3, 8, 36, 3), weights, options)
