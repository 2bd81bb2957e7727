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
