# Inputs leave torch, and come back as a tensor of numbers from a list.
# expect:
#   questions:
#     train_step: {status: partial, checks: {losses: ok, weights: ok, type: ok, again: not_repeated, no_detour: requirement_not_met}}

import torch


def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(torch.tensor(inputs.tolist()))
    loss = loss_fn(outputs, labels.to(outputs.device))
    loss.backward()
    optimizer.step()
    return loss.item()
