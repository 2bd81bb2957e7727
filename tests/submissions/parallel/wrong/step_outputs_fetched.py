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
