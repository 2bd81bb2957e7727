# Gradients are added up, not averaged.
# expect:
#   questions:
#     average_gradients: {status: partial, checks: {gradients: wrong_value, loss: ok, uneven_gradients: wrong_value, uneven_loss: ok, type: requirement_not_met, placed: requirement_not_met, ran_on: requirement_not_met}}

import copy


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
