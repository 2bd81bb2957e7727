"""Devices that may not meet, or that there are none of."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from gpu.programs.base import linear, numbers, program


@program("Mixed devices raise in torch's words")
def mixed_add() -> Any:
    return numbers().cuda() + numbers()


@program("Mixed devices raise in torch's words")
def mixed_add_host_first() -> Any:
    return numbers() + numbers().cuda()


@program("Mixed devices raise in torch's words")
def mixed_mm() -> Any:
    return numbers().cuda() @ numbers().t()


@program("Mixed devices raise in torch's words")
def mixed_linear() -> Any:
    return linear("cuda")(numbers())


@program("Mixed devices raise in torch's words")
def mixed_linear_host_module() -> Any:
    return linear()(numbers().cuda())


@program("Mixed devices raise in torch's words")
def mixed_convolution() -> Any:
    return nn.Conv2d(1, 1, 1).cuda()(torch.ones(1, 1, 2, 2))


@program("Mixed devices raise in torch's words")
def mixed_convolution_host_module() -> Any:
    return nn.Conv2d(1, 1, 1)(torch.ones(1, 1, 2, 2, device="cuda"))


@program("Mixed devices raise in torch's words")
def mixed_embedding() -> Any:
    return nn.Embedding(4, 2).cuda()(torch.tensor([1]))


@program("Mixed devices raise in torch's words")
def mixed_cross_entropy() -> Any:
    return nn.functional.cross_entropy(numbers().cuda(), torch.tensor([0, 1]))


@program("Mixed devices raise in torch's words")
def mixed_mse() -> Any:
    return nn.MSELoss()(numbers().cuda(), numbers())


@program("Mixed devices raise in torch's words")
def mixed_cat() -> Any:
    return torch.cat([numbers().cuda(), numbers()])


@program("Mixed devices raise in torch's words")
def mixed_where() -> Any:
    return torch.where(numbers() > 1, numbers().cuda(), numbers().cuda())


@program("Mixed devices raise in torch's words")
def mixed_equal() -> Any:
    return torch.equal(numbers().cuda(), numbers())


@program("Mixed devices raise in torch's words")
def mixed_gradient() -> Any:
    weight = nn.Parameter(numbers().cuda())
    weight.grad = numbers()


@program("Mixed devices raise in torch's words", devices=2)
def mixed_two_devices_add() -> Any:
    return numbers().to("cuda:0") + numbers().to("cuda:1")


@program("Mixed devices raise in torch's words", devices=2)
def mixed_two_devices_linear() -> Any:
    return linear("cuda:0")(numbers().to("cuda:1"))


@program("Mixed devices raise in torch's words", devices=2)
def mixed_two_devices_convolution() -> Any:
    return nn.Conv2d(1, 1, 1).to("cuda:1")(torch.ones(1, 1, 2, 2, device="cuda:0"))


@program("Missing devices raise in torch's words")
def missing_factory() -> Any:
    return torch.zeros(1, device="cuda:63")


@program("Missing devices raise in torch's words")
def missing_to() -> Any:
    return numbers().to("cuda:63")


@program("Missing devices raise in torch's words")
def missing_module() -> Any:
    return linear("cuda:63")


@program("Missing devices raise in torch's words")
def missing_set_device() -> Any:
    return torch.cuda.set_device(63)


@program("Missing devices raise in torch's words")
def no_such_kind() -> Any:
    return torch.zeros(1, device="gpu:0")


@program("Mixed devices raise in torch's words")
def mixed_stack() -> Any:
    return torch.stack([numbers(), numbers().cuda()])


@program("Mixed devices raise in torch's words")
def mixed_recurrent_layer() -> Any:
    return nn.LSTM(3, 2).cuda()(numbers())


@program("Mixed devices raise in torch's words")
def mixed_hidden_state() -> Any:
    return nn.GRU(3, 2).cuda()(numbers().cuda(), torch.zeros(1, 2))


@program("Mixed devices raise in torch's words")
def mixed_backward() -> Any:
    (numbers().cuda().requires_grad_() * 2).backward(numbers())


@program("Mixed devices raise in torch's words")
def mixed_batch_norm() -> Any:
    return nn.BatchNorm1d(3).cuda()(numbers())


@program("Mixed devices raise in torch's words")
def mixed_batches_of_products() -> Any:
    return torch.bmm(torch.ones(1, 2, 2, device="cuda"), torch.ones(1, 2, 2))


@program("Mixed devices raise in torch's words")
def label_on_the_host() -> Any:
    labels = torch.ones(2, 2)
    return nn.MSELoss()(linear("cuda")(numbers().cuda()), labels)
