# Labels stay where they are.
# expect:
#   questions:
#     train_step: {status: failed, code: raised}

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs, labels)
    loss.backward()
    optimizer.step()
    return loss.item()
