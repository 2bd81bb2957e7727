# Wrong ways to write average_gradients. docs/authoring.md explains the cells.

import copy


# %% average_adds_to_old_gradients
# Old gradients are added to.
# expect:
#   questions:
#     average_gradients: {status: partial, checks: {gradients: wrong_value, loss: ok, uneven_gradients: wrong_value, uneven_loss: ok, type: requirement_not_met, placed: requirement_not_met, ran_on: requirement_not_met}}

def average_gradients(model, loss_fn, inputs, labels, devices):
    total = 0.0
    xs, ys = inputs.chunk(len(devices)), labels.chunk(len(devices))
    gradients = []
    for device, x, y in zip(devices, xs, ys):
        replica = copy.deepcopy(model).to(device)
        share = len(x) / len(inputs)
        replica.zero_grad()
        loss = loss_fn(replica(x.to(device)), y.to(device))
        loss.backward()
        total += share * loss.item()
        gradients.append([share * p.grad.to(devices[0]) for p in replica.parameters()])
    for parameter, parts in zip(model.parameters(), zip(*gradients)):
        parameter.grad += sum(parts)
    return total


# %% average_by_numpy
# The gradients are averaged by NumPy, on the CPU.
# expect:
#   questions:
#     average_gradients: {status: partial, checks: {gradients: ok, loss: ok, uneven_gradients: ok, uneven_loss: ok, type: ok, again: not_repeated, placed: requirement_not_met, ran_on: requirement_not_met}}

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


# %% average_by_the_cpu
# The CPU does the work; each device computes something small for show.
# expect:
#   questions:
#     average_gradients: {status: partial, checks: {gradients: ok, loss: ok, uneven_gradients: ok, uneven_loss: ok, type: ok, again: ok, placed: ok, ran_on: ran_elsewhere}}

import torch


def average_gradients(model, loss_fn, inputs, labels, devices):
    replica = copy.deepcopy(model).cpu()
    replica.zero_grad()
    loss = loss_fn(replica(inputs), labels)
    loss.backward()
    for device, x in zip(devices, inputs.chunk(len(devices))):
        torch.mm(x.to(device), torch.ones(x.shape[1], 1, device=device))
    for parameter, own in zip(model.parameters(), replica.parameters()):
        parameter.grad = own.grad.to(devices[0])
    return loss.item()


# %% average_by_the_cpu_with_all_it_adds
# The CPU does the work; what the devices compute for show is added, times zero.
# expect:
#   questions:
#     average_gradients: {status: partial, checks: {gradients: ok, loss: ok, uneven_gradients: ok, uneven_loss: ok, type: ok, again: ok, placed: ok, ran_on: ran_elsewhere}}

import torch


def average_gradients(model, loss_fn, inputs, labels, devices):
    replica = copy.deepcopy(model).cpu()
    replica.zero_grad()
    loss = loss_fn(replica(inputs), labels)
    loss.backward()
    nothing = 0
    for device, x in zip(devices, inputs.chunk(len(devices))):
        shown = torch.mm(x.to(device), torch.ones(x.shape[1], 1, device=device))
        nothing = nothing + shown.sum().to(devices[0]) * 0
    for parameter, own in zip(model.parameters(), replica.parameters()):
        parameter.grad = own.grad.to(devices[0]) + nothing
    return loss.item()


# %% average_copies_keep_old_gradients
# The copies begin with the old gradients.
# expect:
#   mistakes: [average_adds_to_old_gradients]
#   questions:
#     average_gradients: {status: partial, checks: {gradients: wrong_value, loss: ok, uneven_gradients: wrong_value, uneven_loss: ok, type: requirement_not_met, placed: requirement_not_met, ran_on: requirement_not_met}}

def average_gradients(model, loss_fn, inputs, labels, devices):
    total = 0.0
    xs, ys = inputs.chunk(len(devices)), labels.chunk(len(devices))
    gradients = []
    for device, x, y in zip(devices, xs, ys):
        replica = copy.deepcopy(model).to(device)
        share = len(x) / len(inputs)
        loss = loss_fn(replica(x.to(device)), y.to(device))
        loss.backward()
        total += share * loss.item()
        gradients.append([share * p.grad.to(devices[0]) for p in replica.parameters()])
    for parameter, parts in zip(model.parameters(), zip(*gradients)):
        parameter.grad = sum(parts)
    return total


# %% average_gradients_on_the_cpu
# Gradients are gathered on the CPU.
# expect:
#   questions:
#     average_gradients: {status: failed, code: raised}

def average_gradients(model, loss_fn, inputs, labels, devices):
    model.zero_grad()
    total = 0.0
    xs, ys = inputs.chunk(len(devices)), labels.chunk(len(devices))
    gradients = []
    for device, x, y in zip(devices, xs, ys):
        replica = copy.deepcopy(model).to(device)
        share = len(x) / len(inputs)
        loss = loss_fn(replica(x.to(device)), y.to(device))
        loss.backward()
        total += share * loss.item()
        gradients.append([share * p.grad.cpu() for p in replica.parameters()])
    for parameter, parts in zip(model.parameters(), zip(*gradients)):
        parameter.grad = sum(parts)
    return total


# %% average_last_part_only
# Gradients of the last part alone.
# expect:
#   questions:
#     average_gradients: {status: partial, points: 1.5, checks: {gradients: wrong_value, loss: ok, uneven_gradients: wrong_value, uneven_loss: ok, type: requirement_not_met, placed: requirement_not_met, ran_on: ran_elsewhere}}

def average_gradients(model, loss_fn, inputs, labels, devices):
    model.zero_grad()
    total = 0.0
    xs, ys = inputs.chunk(len(devices)), labels.chunk(len(devices))
    gradients = []
    for device, x, y in zip(devices, xs, ys):
        replica = copy.deepcopy(model).to(device)
        share = len(x) / len(inputs)
        loss = loss_fn(replica(x.to(device)), y.to(device))
        loss.backward()
        total += share * loss.item()
        gradients.append([share * p.grad.to(devices[0]) for p in replica.parameters()])
    for parameter, parts in zip(model.parameters(), zip(*gradients)):
        parameter.grad = parts[-1]
    return total


# %% average_loss_unweighted
# The loss is the plain mean of the parts' losses.
# expect:
#   questions:
#     average_gradients: {status: partial, checks: {gradients: ok, loss: ok, uneven_gradients: ok, uneven_loss: wrong_value, type: ok, placed: ok, ran_on: ok}}

def average_gradients(model, loss_fn, inputs, labels, devices):
    model.zero_grad()
    total = 0.0
    xs, ys = inputs.chunk(len(devices)), labels.chunk(len(devices))
    gradients = []
    for device, x, y in zip(devices, xs, ys):
        replica = copy.deepcopy(model).to(device)
        share = len(x) / len(inputs)
        loss = loss_fn(replica(x.to(device)), y.to(device))
        loss.backward()
        total += loss.item() / len(xs)
        gradients.append([share * p.grad.to(devices[0]) for p in replica.parameters()])
    for parameter, parts in zip(model.parameters(), zip(*gradients)):
        parameter.grad = sum(parts)
    return total


# %% average_moves_the_model
# The model itself travels from device to device, and stays on the last.
# expect:
#   questions:
#     average_gradients: {status: partial, checks: {gradients: ok, loss: ok, uneven_gradients: ok, uneven_loss: ok, type: ok, placed: wrong_device, ran_on: ok}}

def average_gradients(model, loss_fn, inputs, labels, devices):
    model.zero_grad()
    total = 0.0
    for device, x, y in zip(devices, inputs.chunk(len(devices)), labels.chunk(len(devices))):
        model.to(device)
        loss = loss_fn(model(x.to(device)), y.to(device)) * (len(x) / len(inputs))
        loss.backward()
        total += loss.item()
    return total


# %% average_one_device
# The whole batch on one device: right numbers, no parallel work.
# expect:
#   questions:
#     average_gradients: {status: partial, checks: {gradients: ok, loss: ok, uneven_gradients: ok, uneven_loss: ok, type: ok, placed: ok, ran_on: ran_elsewhere}}

def average_gradients(model, loss_fn, inputs, labels, devices):
    model.zero_grad()
    loss = loss_fn(model(inputs.to(devices[0])), labels.to(devices[0]))
    loss.backward()
    return loss.item()


# %% average_over_all_devices
# Divides by the number of devices, though there may be fewer parts.
# expect:
#   mistakes: [average_by_number_of_devices]
#   questions:
#     average_gradients: {status: partial, checks: {gradients: ok, loss: ok, uneven_gradients: wrong_value, uneven_loss: wrong_value, type: ok, placed: ok, ran_on: ok}}

def average_gradients(model, loss_fn, inputs, labels, devices):
    model.zero_grad()
    total = 0.0
    xs, ys = inputs.chunk(len(devices)), labels.chunk(len(devices))
    gradients = []
    for device, x, y in zip(devices, xs, ys):
        replica = copy.deepcopy(model).to(device)
        share = 1 / len(devices)
        loss = loss_fn(replica(x.to(device)), y.to(device))
        loss.backward()
        total += share * loss.item()
        gradients.append([share * p.grad.to(devices[0]) for p in replica.parameters()])
    for parameter, parts in zip(model.parameters(), zip(*gradients)):
        parameter.grad = sum(parts)
    return total


# %% average_parts_dropped
# The last samples of a batch that does not divide evenly are dropped.
# expect:
#   questions:
#     average_gradients: {status: partial, checks: {gradients: ok, loss: ok, uneven_gradients: wrong_value, uneven_loss: wrong_value, type: ok, placed: ok, ran_on: ok}}

def average_gradients(model, loss_fn, inputs, labels, devices):
    model.zero_grad()
    total = 0.0
    size = max(1, len(inputs) // len(devices))
    inputs = inputs[: size * len(devices)]
    xs, ys = inputs.split(size), labels[: size * len(devices)].split(size)
    gradients = []
    for device, x, y in zip(devices, xs, ys):
        replica = copy.deepcopy(model).to(device)
        share = len(x) / len(inputs)
        loss = loss_fn(replica(x.to(device)), y.to(device))
        loss.backward()
        total += share * loss.item()
        gradients.append([share * p.grad.to(devices[0]) for p in replica.parameters()])
    for parameter, parts in zip(model.parameters(), zip(*gradients)):
        parameter.grad = sum(parts)
    return total


# %% average_returns_a_tensor
# The loss is returned as a tensor.
# expect:
#   questions:
#     average_gradients: {status: partial, checks: {gradients: ok, loss: ok, uneven_gradients: ok, uneven_loss: ok, type: wrong_type, placed: ok, ran_on: ok}}

def average_gradients(model, loss_fn, inputs, labels, devices):
    model.zero_grad()
    total = 0.0
    xs, ys = inputs.chunk(len(devices)), labels.chunk(len(devices))
    gradients = []
    for device, x, y in zip(devices, xs, ys):
        replica = copy.deepcopy(model).to(device)
        share = len(x) / len(inputs)
        loss = loss_fn(replica(x.to(device)), y.to(device))
        loss.backward()
        total += share * loss.detach().to(devices[0])
        gradients.append([share * p.grad.to(devices[0]) for p in replica.parameters()])
    for parameter, parts in zip(model.parameters(), zip(*gradients)):
        parameter.grad = sum(parts)
    return total


# %% average_sums
# Gradients are added up, not averaged.
# expect:
#   questions:
#     average_gradients: {status: partial, checks: {gradients: wrong_value, loss: ok, uneven_gradients: wrong_value, uneven_loss: ok, type: requirement_not_met, placed: requirement_not_met, ran_on: requirement_not_met}}

def average_gradients(model, loss_fn, inputs, labels, devices):
    model.zero_grad()
    total = 0.0
    xs, ys = inputs.chunk(len(devices)), labels.chunk(len(devices))
    gradients = []
    for device, x, y in zip(devices, xs, ys):
        replica = copy.deepcopy(model).to(device)
        share = len(x) / len(inputs)
        loss = loss_fn(replica(x.to(device)), y.to(device))
        loss.backward()
        total += share * loss.item()
        gradients.append([p.grad.to(devices[0]) for p in replica.parameters()])
    for parameter, parts in zip(model.parameters(), zip(*gradients)):
        parameter.grad = sum(parts)
    return total


# %% average_unweighted
# Parts of unequal size count alike.
# expect:
#   questions:
#     average_gradients: {status: partial, checks: {gradients: ok, loss: ok, uneven_gradients: wrong_value, uneven_loss: wrong_value, type: ok, placed: ok, ran_on: ok}}

def average_gradients(model, loss_fn, inputs, labels, devices):
    model.zero_grad()
    total = 0.0
    xs, ys = inputs.chunk(len(devices)), labels.chunk(len(devices))
    gradients = []
    for device, x, y in zip(devices, xs, ys):
        replica = copy.deepcopy(model).to(device)
        share = 1 / len(xs)
        loss = loss_fn(replica(x.to(device)), y.to(device))
        loss.backward()
        total += share * loss.item()
        gradients.append([share * p.grad.to(devices[0]) for p in replica.parameters()])
    for parameter, parts in zip(model.parameters(), zip(*gradients)):
        parameter.grad = sum(parts)
    return total


# %% average_adds_the_losses
# Gradients are averaged; the losses of the parts are only added.
# expect:
#   questions:
#     average_gradients: {status: partial, checks: {gradients: ok, loss: wrong_value, uneven_gradients: ok, uneven_loss: wrong_value, type: ok, placed: ok, ran_on: ok}}

def average_gradients(model, loss_fn, inputs, labels, devices):
    replicas, weights, total = [], [], 0.0
    for device, x, y in zip(devices, inputs.chunk(len(devices)), labels.chunk(len(devices))):
        replica = copy.deepcopy(model).to(device)
        replica.zero_grad()
        loss = loss_fn(replica(x.to(device)), y.to(device))
        loss.backward()
        replicas.append(replica)
        weights.append(len(x) / len(inputs))
        total += loss.item()
    for parameter, *owns in zip(model.parameters(), *(replica.parameters() for replica in replicas)):
        parameter.grad = sum(weight * own.grad.to(devices[0]) for weight, own in zip(weights, owns))
    return total
