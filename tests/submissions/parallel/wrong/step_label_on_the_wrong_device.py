# Labels go to cuda:0, the outputs are on cuda:1.
# expect:
#   questions:
#     train_step: {status: failed, code: raised}

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to("cuda:0"))
    loss.backward()
    optimizer.step()
    return loss.item()
