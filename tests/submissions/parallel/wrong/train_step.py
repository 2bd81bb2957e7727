# Wrong ways to write train_step. docs/authoring.md explains the cells.


# %% step_accumulates
# Old gradients are never forgotten.
# expect:
#   questions:
#     train_step: {status: partial, points: 3.6, checks: {losses: wrong_value, weights: wrong_value, type: requirement_not_met, no_detour: requirement_not_met}}

def train_step(model, loss_fn, optimizer, inputs, labels):
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to(outputs.device))
    loss.backward()
    optimizer.step()
    return loss.item()


# %% step_forgets_new_gradients
# Gradients are forgotten between backward and step.
# expect:
#   mistakes: [step_no_step]
#   questions:
#     train_step: {status: partial, points: 2.4, checks: {losses: wrong_value, weights: wrong_value, type: requirement_not_met, no_detour: requirement_not_met}}

def train_step(model, loss_fn, optimizer, inputs, labels):
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to(outputs.device))
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


# %% step_hard_coded
# Labels go to cuda:1, where the model need not answer.
# expect:
#   questions:
#     train_step: {status: partial, code: raised}

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    loss = loss_fn(model(inputs), labels.to("cuda:1"))
    loss.backward()
    optimizer.step()
    return loss.item()


# %% step_hard_coded_for_both
# Outputs and labels go to cuda:1, wherever the model answers.
# expect:
#   questions:
#     train_step: {status: partial, checks: {losses: ok, weights: ok, type: ok, no_detour: ok, outputs_stay: wrong_transfers}}

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    loss = loss_fn(model(inputs).to("cuda:1"), labels.to("cuda:1"))
    loss.backward()
    optimizer.step()
    return loss.item()


# %% step_inputs_as_lists
# Inputs leave torch, and come back as a tensor of numbers from a list.
# expect:
#   questions:
#     train_step: {status: partial, checks: {losses: ok, weights: ok, type: ok, again: ok, no_detour: wrong_transfers}}

import torch


def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(torch.tensor(inputs.tolist()))
    loss = loss_fn(outputs, labels.to(outputs.device))
    loss.backward()
    optimizer.step()
    return loss.item()


# %% step_inputs_by_numpy
# Inputs are doubled by NumPy and halved by torch.
# expect:
#   questions:
#     train_step: {status: partial, checks: {losses: ok, weights: ok, type: ok, again: not_repeated, no_detour: requirement_not_met}}

import torch


def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(torch.from_numpy(inputs.cpu().numpy() * 2) / 2)
    loss = loss_fn(outputs, labels.to(outputs.device))
    loss.backward()
    optimizer.step()
    return loss.item()


# %% step_label_not_moved
# Labels stay where they are.
# expect:
#   questions:
#     train_step: {status: partial, code: raised}

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs, labels)
    loss.backward()
    optimizer.step()
    return loss.item()


# %% step_label_on_the_wrong_device
# Labels go to cuda:0, the outputs are on cuda:1.
# expect:
#   questions:
#     train_step: {status: partial, code: raised}

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to("cuda:0"))
    loss.backward()
    optimizer.step()
    return loss.item()


# %% step_loss_after_the_update
# The loss is computed again after the update.
# expect:
#   questions:
#     train_step: {status: partial, checks: {no_detour: ok, losses: wrong_value, weights: ok, type: ok}}

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to(outputs.device))
    loss.backward()
    optimizer.step()
    return loss_fn(model(inputs), labels.to(outputs.device)).item()


# %% step_no_step
# Nothing is updated.
# expect:
#   questions:
#     train_step: {status: partial, points: 2.4, checks: {losses: wrong_value, weights: wrong_value, type: requirement_not_met, no_detour: requirement_not_met}}

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to(outputs.device))
    loss.backward()
    return loss.item()


# %% step_outputs_fetched
# Outputs go to the CPU, where labels may be.
# expect:
#   questions:
#     train_step: {status: partial, checks: {no_detour: wrong_transfers, losses: ok, weights: ok, type: ok}}

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs.cpu(), labels.cpu())
    loss.backward()
    optimizer.step()
    return loss.item()


# %% step_returns_a_tensor
# The loss is returned as a tensor with its graph.
# expect:
#   questions:
#     train_step: {status: partial, checks: {no_detour: ok, losses: ok, weights: ok, type: wrong_type}}

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to(outputs.device))
    loss.backward()
    optimizer.step()
    return loss


# %% step_returns_an_array
# The loss is returned as a number of NumPy's.
# expect:
#   questions:
#     train_step: {status: partial, checks: {no_detour: ok, losses: wrong_type, weights: ok, type: wrong_type}}

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to(outputs.device))
    loss.backward()
    optimizer.step()
    return loss.detach().cpu().numpy()


# %% step_returns_text
# The loss is returned as text.
# expect:
#   questions:
#     train_step: {status: partial, checks: {no_detour: ok, losses: wrong_type, weights: ok, type: wrong_type}}

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to(outputs.device))
    loss.backward()
    optimizer.step()
    return f"{loss.item():.3f}"


# %% step_steps_twice
# Two updates a step.
# expect:
#   questions:
#     train_step: {status: partial, points: 3.6, checks: {losses: wrong_value, weights: wrong_value, type: requirement_not_met, no_detour: requirement_not_met}}

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to(outputs.device))
    loss.backward()
    optimizer.step()
    optimizer.step()
    return loss.item()
