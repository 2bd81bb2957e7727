"""Modules, layers and losses on devices."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from gpu.programs.base import linear, numbers, program


@program("`nn.Module.to`, `.cuda`, `.cpu`; buffers")
def module_moves() -> Any:
    model = nn.Sequential(linear(), nn.BatchNorm1d(2))
    before = [id(p) for p in model.parameters()]
    moved = model.to("cuda")
    kept = [id(p) for p in model.parameters()] == before
    places = {name: str(t.device) for name, t in model.state_dict().items()}
    out = model(numbers().cuda())
    types = [isinstance(p, nn.Parameter) and p.requires_grad for p in model.parameters()]
    back = model.cpu()
    again = {name: str(t.device) for name, t in back.state_dict().items()}
    return moved is model, kept, places, out, types, again, model[1].running_mean


@program("`nn.Module.to`, `.cuda`, `.cpu`; buffers")
def module_forms() -> Any:
    return [
        linear().cuda().weight, linear().cuda(0).bias, linear().to("cuda", torch.float64).weight,
        linear().to(torch.device("cuda")).bias, linear().to(numbers().cuda()).weight,
        linear().cuda().half().weight, linear().to(dtype=torch.float64).to(0).weight,
        nn.Linear(2, 2, device="cuda").weight.device, linear().cuda().cpu().weight,
    ]  # fmt: skip


@program("`nn.Module.to`, `.cuda`, `.cpu`; buffers")
def module_moves_gradients() -> Any:
    model = linear()
    model(numbers()).sum().backward()
    model.cuda()
    first = model.weight.grad.clone()
    model(numbers().cuda()).sum().backward()
    return first, model.weight.grad, model.bias.grad


@program("`nn.Module.to`, `.cuda`, `.cpu`; buffers")
def optimizer_made_before_the_move() -> Any:
    model = linear()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.cuda()
    model(numbers().cuda()).sum().backward()
    optimizer.step()
    return model.weight, optimizer.param_groups[0]["params"][0] is model.weight


@program("`nn.Module.to`, `.cuda`, `.cpu`; buffers")
def moved_after_training() -> Any:
    model = linear("cuda")
    loss = model(numbers().cuda()).sum()
    loss.backward()
    model.cpu()
    return model(numbers()), loss


@program("`nn.Module.to`, `.cuda`, `.cpu`; buffers")
def data_assignment() -> Any:
    model = linear("cuda")
    model.weight.data = torch.ones(2, 3, device="cuda")
    model.bias.data.fill_(2)
    host = linear()
    host.weight.data = torch.zeros(2, 3, device="cuda")
    return model.weight, model.bias, model.weight.data, host.weight


@program("Layers")
def layers() -> Any:
    torch.manual_seed(0)
    x = torch.arange(32.0).reshape(1, 2, 4, 4).cuda() / 32
    seq = torch.ones(3, 2, 4, device="cuda")
    return [
        nn.Conv2d(2, 3, 3, padding=1).cuda()(x).shape, nn.MaxPool2d(2)(x), nn.AvgPool2d(2)(x),
        nn.AdaptiveAvgPool2d(1)(x), nn.ReLU()(x - 0.5), nn.Flatten()(x).shape,
        nn.LSTM(4, 3).cuda()(seq)[0].device, nn.GRU(4, 3).cuda()(seq)[0].shape,
        nn.MultiheadAttention(4, 2).cuda()(seq, seq, seq)[0].device,
        nn.TransformerEncoderLayer(4, 2, 8).cuda()(seq).device, nn.LayerNorm(4).cuda()(seq).shape,
        nn.Embedding(3, 2).cuda()(torch.tensor([1], device="cuda")).shape,
        nn.BatchNorm2d(2).cuda()(x), nn.Dropout(0.0)(x).device, nn.Softmax(-1)(x),
        nn.functional.scaled_dot_product_attention(seq, seq, seq, is_causal=True),
        nn.ConvTranspose2d(2, 1, 2).cuda()(x).device, nn.Upsample(scale_factor=2)(x).shape,
        nn.functional.one_hot(torch.tensor([1, 0], device="cuda")), nn.Tanh()(x),
    ]  # fmt: skip


@program("Losses")
def losses() -> Any:
    logits = numbers().cuda().requires_grad_()
    labels = torch.tensor([0, 2], device="cuda")
    return [
        nn.CrossEntropyLoss()(logits, labels), nn.MSELoss()(logits, logits * 2),
        nn.L1Loss()(logits, logits + 1), nn.BCEWithLogitsLoss()(logits, torch.ones_like(logits)),
        nn.functional.nll_loss(logits.log_softmax(1), labels), nn.HuberLoss()(logits, logits * 3),
        nn.KLDivLoss(reduction="batchmean")(logits.log_softmax(1), logits.softmax(1)),
    ]  # fmt: skip


@program("Padded and packed sequences")
def sequences() -> Any:
    rows = [numbers()[:1].cuda(), numbers().cuda() + 1]
    pack = nn.utils.rnn.pack_sequence(rows, enforce_sorted=False)
    unpacked, lengths = nn.utils.rnn.pad_packed_sequence(pack, batch_first=True)
    out, _ = nn.GRU(3, 2).cuda()(pack)
    return (
        nn.utils.rnn.pad_sequence(rows), nn.utils.rnn.pad_sequence(rows, True, -1.0), unpacked,
        lengths, out.data.device, pack.batch_sizes,
    )  # fmt: skip


@program("Losses")
def connectionist_loss() -> Any:
    scores = (torch.arange(20.0).reshape(5, 1, 4) / 20).log_softmax(2).cuda()
    targets = torch.tensor([[1, 2]], device="cuda")
    lengths = torch.tensor([5]), torch.tensor([2])
    loss = nn.CTCLoss()
    return loss(scores, targets, *lengths), loss(scores, targets, (5,), (2,))


@program("`nn.Module.to`, `.cuda`, `.cpu`; buffers")
def shared_weights_stay_shared() -> Any:
    model = nn.Sequential(linear(), nn.Linear(2, 2), nn.Linear(2, 2))
    model[2].weight = model[1].weight
    there = model.cuda()[2].weight is model[1].weight
    return there, model.cpu()[2].weight is model[1].weight, len(list(model.parameters()))


@program("`nn.Module.to`, `.cuda`, `.cpu`; buffers")
def what_is_no_buffer_stays() -> Any:
    model = linear()
    model.register_buffer("counted", torch.ones(1))
    model.plain = torch.ones(1)
    model.cuda()
    return model.counted, model.plain, [name for name, _ in model.named_buffers()]


@program("`nn.Module.to`, `.cuda`, `.cpu`; buffers")
def frozen_layers() -> Any:
    model = nn.Sequential(linear(), nn.Linear(2, 1)).cuda()
    for parameter in model[0].parameters():
        parameter.requires_grad = False
    model(numbers().cuda()).sum().backward()
    return model[0].weight.grad, model[1].bias.grad
