"""Autograd and optimisers across devices."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from gpu.programs.base import linear, numbers, program, stepped


@program("Autograd across devices")
def gradient_home() -> Any:
    x = numbers().requires_grad_()
    g = x.to("cuda")
    (g * 3).sum().backward()
    return x.grad, g.is_leaf, g.requires_grad, type(g.grad_fn).__name__


@program("Autograd across devices", devices=2)
def gradient_across_two() -> Any:
    first, second = linear("cuda:0"), nn.Linear(2, 1).to("cuda:1")
    with torch.no_grad():
        second.weight.fill_(0.5)
        second.bias.zero_()
    out = second(first(numbers().to("cuda:0")).relu().to("cuda:1"))
    out.sum().backward()
    return out, first.weight.grad, second.weight.grad, first.bias.grad


@program("Autograd across devices")
def copies_carry_gradients() -> Any:
    x = numbers().requires_grad_()
    y = torch.zeros(2, 3, device="cuda")
    y.copy_(x)
    z = torch.zeros(2, 3, device="cuda")
    z[0] = x[1]
    (y * 2 + z).sum().backward()
    return x.grad


@program("Autograd across devices")
def second_derivative() -> Any:
    x = numbers().requires_grad_()
    (first,) = torch.autograd.grad((x.to("cuda") ** 3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    return first, second


@program("Autograd across devices")
def no_grad_and_detach() -> Any:
    w = nn.Parameter(numbers().cuda())
    with torch.no_grad():
        a = w * 2
    with torch.inference_mode():
        b = (w + 1).add_(1)
    c = (w * 2).detach()
    return a.requires_grad, b, b.is_inference(), c.requires_grad, w.is_leaf, w.data


@program("Autograd across devices")
def hooks_and_functions() -> Any:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            (x,) = ctx.saved_tensors
            return gradient * 2 + 0 * x

    seen = []
    w = numbers().cuda().requires_grad_()
    w.register_hook(lambda gradient: seen.append(str(gradient.device)))
    Double.apply(w).sum().backward()
    return w.grad, seen


@program("Autograd across devices")
def constant_gradient() -> Any:
    w = numbers().cuda().requires_grad_()
    w.sgn().sum().backward()
    return w.grad


@program("Optimisers and their state")
def sgd() -> Any:
    return stepped(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9))


@program("Optimisers and their state")
def adam() -> Any:
    loss, weight, gradient, _ = stepped(lambda p: torch.optim.Adam(p, lr=0.1))
    return loss, weight, gradient


@program("Optimisers and their state")
def adamw_rmsprop_adagrad() -> Any:
    kinds = (torch.optim.AdamW, torch.optim.RMSprop, torch.optim.Adagrad)
    return [stepped(lambda p, kind=kind: kind(p, lr=0.1))[1] for kind in kinds]


@program("Optimisers and their state")
def optimizer_state_dict() -> Any:
    model = linear("cuda")
    optimizer = torch.optim.Adam(model.parameters())
    model(numbers().cuda()).sum().backward()
    optimizer.step()
    other = torch.optim.Adam(linear("cuda").parameters())
    other.load_state_dict(optimizer.state_dict())
    return [s["exp_avg"] for s in other.state.values()]


@program("Optimisers and their state", devices=2)
def clipping_over_two_devices() -> Any:
    first, second = linear("cuda:0"), linear("cuda:1")
    for model, device in ((first, "cuda:0"), (second, "cuda:1")):
        model(numbers().to(device)).sum().backward()
    both = [*first.parameters(), *second.parameters()]
    return nn.utils.clip_grad_norm_(both, 0.5), second.weight.grad


@program("Optimisers and their state")
def fused_and_capturable() -> Any:
    made = [stepped(lambda p, how=how: torch.optim.Adam(p, lr=0.1, **how))[1:] for how in (
        {"fused": True}, {"capturable": True}, {"foreach": True}, {"amsgrad": True},
    )]  # fmt: skip
    return [(weight, gradient) for weight, gradient, _ in made]


@program("Optimisers and their state")
def schedule_and_momentum() -> Any:
    model = linear("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    for _ in range(2):
        optimizer.zero_grad()
        model(numbers().cuda()).sum().backward()
        optimizer.step()
        schedule.step()
    return model.weight, schedule.get_last_lr()


@program("Autograd across devices")
def checkpointing() -> Any:
    model, x = linear("cuda"), numbers().cuda().requires_grad_()
    out = torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False)
    out.sum().backward()
    return out, x.grad, model.weight.grad


@program("Autograd across devices")
def changed_in_place() -> Any:
    x = numbers().cuda().requires_grad_()
    y = x * 2
    y.add_(1)
    y[0] = 5
    y.sum().backward()
    return x.grad


@program("Autograd across devices")
def leaf_changed_in_place() -> Any:
    return numbers().cuda().requires_grad_().add_(1)
