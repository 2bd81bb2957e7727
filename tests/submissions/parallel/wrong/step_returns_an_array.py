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
