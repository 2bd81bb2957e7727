# The whole batch on one device: right numbers, no parallel work.
# expect:
#   questions:
#     average_gradients: {status: partial, checks: {gradients: ok, loss: ok, uneven_gradients: ok, uneven_loss: ok, type: ok, placed: ok, ran_on: ran_elsewhere}}

def average_gradients(model, loss_fn, inputs, labels, devices):
    model.zero_grad()
    loss = loss_fn(model(inputs.to(devices[0])), labels.to(devices[0]))
    loss.backward()
    return loss.item()
