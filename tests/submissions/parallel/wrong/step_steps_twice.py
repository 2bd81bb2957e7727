# Two updates a step.
# expect:
#   questions:
#     train_step: {status: failed, checks: {losses: wrong_value, weights: wrong_value, type: requirement_not_met, no_detour: requirement_not_met}}

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to(outputs.device))
    loss.backward()
    optimizer.step()
    optimizer.step()
    return loss.item()
