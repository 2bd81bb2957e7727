# The gradients are averaged by NumPy, on the CPU.
# expect:
#   questions:
#     average_gradients: {status: partial, checks: {gradients: ok, loss: ok, uneven_gradients: ok, uneven_loss: ok, type: ok, again: not_repeated, placed: requirement_not_met, ran_on: requirement_not_met}}

import copy

import torch


def average_gradients(model, loss_fn, inputs, labels, devices):
    total, sums = 0.0, [0.0 for _ in model.parameters()]
    parts = zip(devices, inputs.chunk(len(devices)), labels.chunk(len(devices)))
    for device, x, y in parts:
        replica = copy.deepcopy(model).to(device)
        replica.zero_grad()
        loss = loss_fn(replica(x.to(device)), y.to(device))
        loss.backward()
        total += len(x) * loss.item()
        sums = [old + len(x) * own.grad.cpu().numpy() for old, own in zip(sums, replica.parameters())]
    for parameter, gradient in zip(model.parameters(), sums):
        parameter.grad = torch.from_numpy(gradient / len(inputs)).to(devices[0])
    return total / len(inputs)
