# The last samples of a batch that does not divide evenly are dropped.
# expect:
#   questions:
#     average_gradients: {status: partial, checks: {gradients: ok, loss: ok, uneven_gradients: wrong_value, uneven_loss: wrong_value, type: ok, placed: ok, ran_on: ok}}

import copy


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
