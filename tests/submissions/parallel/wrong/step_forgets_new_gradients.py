# Gradients are forgotten between backward and step.
# expect:
#   questions:
#     train_step: {status: failed, checks: {losses: wrong_value, weights: wrong_value, type: requirement_not_met, no_detour: requirement_not_met}}

def train_step(model, loss_fn, optimizer, inputs, labels):
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to(outputs.device))
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()
