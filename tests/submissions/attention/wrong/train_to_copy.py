# Wrong ways to write train_to_copy. docs/authoring.md explains the cells.

import torch


# %% copy_gradients_add_up
# The gradients of earlier steps stay.
# expect:
#   questions:
#     train_to_copy: {status: partial, points: 5.4, checks: {weights: wrong_value}, says: optimizer.zero_grad()}

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = (model(x, causal_mask(x.shape[1])) - target).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% copy_gradients_add_up_without_the_mask
# The gradients of earlier steps stay, and every place sees all places.
# expect:
#   questions:
#     train_to_copy:
#       status: failed
#       checks: {weights: wrong_value}
#       says: "backward() added to gradients of an earlier step: call optimizer.zero_grad() in every step."

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = (model(x, torch.ones(x.shape[1], x.shape[1], dtype=bool)) - target).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% copy_without_the_mask
# Every place sees all places.
# expect:
#   questions:
#     train_to_copy: {status: partial, points: 5.4, checks: {weights: wrong_value}}

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = (model(x, torch.ones_like(causal_mask(x.shape[1]))) - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% copy_by_adam
# Another optimiser than was asked for.
# expect:
#   questions:
#     train_to_copy: {status: partial, points: 5.4, checks: {weights: wrong_value}}

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = (model(x, causal_mask(x.shape[1])) - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% copy_sums_the_loss
# The sum of the squares, not their mean.
# expect:
#   questions:
#     train_to_copy: {status: partial, points: 7.2, checks: {weights: wrong_value, losses: wrong_value}}

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = (model(x, causal_mask(x.shape[1])) - target).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% copy_loss_after_the_step
# The loss is looked at after the step.
# expect:
#   questions:
#     train_to_copy: {status: partial, checks: {weights: ok, losses: wrong_value}}

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    mask, losses = causal_mask(x.shape[1]), []
    for _ in range(steps):
        optimizer.zero_grad()
        (model(x, mask) - target).square().mean().backward()
        optimizer.step()
        losses.append((model(x, mask) - target).square().mean().item())
    return losses


# %% copy_losses_are_tensors
# Tensors instead of floats.
# expect:
#   questions:
#     train_to_copy: {status: partial, checks: {weights: ok, losses: ok, type: wrong_type}}

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = (model(x, causal_mask(x.shape[1])) - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


# %% copy_centres_the_target
# Takes the mean from the target and puts it back: not the same bits.
# expect:
#   questions:
#     train_to_copy: {status: partial, checks: {weights: ok, unmodified: input_modified}}

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = (model(x, causal_mask(x.shape[1])) - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    target -= target.mean()
    return losses
