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
