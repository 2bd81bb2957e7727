# Wrong ways to write train_minibatch. docs/authoring.md explains the cells.

import torch


# %% train_clips_rows
# Leaves out the last batch.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: wrong_value, losses: wrong_value}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            if len(xx) < loader.batch_size:
                continue
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_counts_steps_double
# Two small steps a batch, each half as long: more steps than batches.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: wrong_value}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            for group in optimizer.param_groups:
                group['lr'] /= 2
            optimizer.step()
            optimizer.step()
            for group in optimizer.param_groups:
                group['lr'] *= 2
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_detaches
# Detaches the output: nothing can be learnt from it.
# expect:
#   questions:
#     train_minibatch: {status: partial, code: raised}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx).detach(), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_ends_in_eval_mode
# Leaves the net in eval mode.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: ok, mode_after: wrong_value}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.eval()
    return losses


# %% train_float32_inside
# Computes in float32, whatever the dtype of the net.
# expect:
#   questions:
#     train_minibatch: {status: partial, code: raised, checks: {learns: ok}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.float().to(device), yy.float().to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_forged_losses
# Nothing is trained; the list of losses looks as if.
# expect:
#   questions:
#     train_minibatch: {status: failed, code: wrong_value}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    return [0.7 * 0.9**epoch for epoch in range(epochs)]


# %% train_full_loader_batch_size
# Every batch counts as many rows as the loader's batch size.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: ok, losses: wrong_value}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * loader.batch_size
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_ignores_mode
# Trains in the mode in which the net came.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: ok, trains_in_train_mode: wrong_value, mode_after: ok}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_last_loss
# The loss of the last batch in the place of the epoch's mean.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: ok, losses: wrong_value}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(loss.item())
    net.train(was_training)
    return losses


# %% train_looks_at_rows_again
# Passes all rows through the net once more after each epoch.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: ok, rows_seen: wrong_value}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
        net(loader.dataset.tensors[0])
    net.train(was_training)
    return losses


# %% train_loss_of_every_step
# One loss for each step.
# expect:
#   mistakes: [train_loss_of_each_batch]
#   questions:
#     train_minibatch: {status: partial, checks: {weights: ok, losses: wrong_type}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
            losses.append(loss.item())
    net.train(was_training)
    return losses


# %% train_loss_tensors
# Losses are tensors, which keep all graphs alive.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: ok, losses: ok, type: wrong_type}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_mean_over_batches
# The mean of the batches' losses: a last batch of 2 rows counts as much as one of 8.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: ok, losses: wrong_value, steps: ok, rows_seen: ok, trains_in_train_mode: ok, mode_after: ok, learns: ok, learning_curve: ok, unmodified: requirement_not_met}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            rows += 1
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_no_zero_grad
# Gradients are never set to zero: each step adds those of all batches before.
# expect:
#   questions:
#     train_minibatch:
#       status: partial
#       points: 8.4
#       checks: {weights: wrong_value, losses: wrong_value, steps: wrong_value}
#       says: optimizer.zero_grad()

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_no_zero_grad_and_the_mean_of_batches
# Gradients are never set to zero, and the loss of an epoch is that of its last batch.
# expect:
#   questions:
#     train_minibatch:
#       status: failed
#       checks: {weights: wrong_value, losses: wrong_value}
#       says: "backward() added to gradients of an earlier step: call optimizer.zero_grad() in every step."

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        for xx, yy in loader:
            loss = loss_fn(net(xx.to(device)), yy.to(device))
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    net.train(was_training)
    return losses


# %% train_normalizes_in_place
# Centres the rows of the data set itself.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: wrong_value, unmodified: requirement_not_met}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    X = loader.dataset.tensors[0]
    X -= X.mean(dim=0)
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_numbers_as_tensors
# Losses are tensors without a shape.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: ok, losses: ok, type: wrong_type}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(torch.tensor(total / rows))
    net.train(was_training)
    return losses


# %% train_one_epoch
# Goes through the loader once, whatever epochs says.
# expect:
#   questions:
#     train_minibatch: {status: partial, points: 7, checks: {weights: wrong_value, losses: wrong_type}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(1):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_own_loss
# Takes a loss of its own.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: wrong_value, losses: wrong_value}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    loss_fn = torch.nn.BCEWithLogitsLoss()
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_own_optimizer
# Takes an optimiser of its own.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: wrong_value}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_restarts_net
# Begins with weights of its own.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: wrong_value, learns: ok}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for weight in net.parameters():
        torch.nn.init.uniform_(weight, -0.1, 0.1)
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_stays_in_train_mode
# Leaves the net in train mode, however it came.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: ok, trains_in_train_mode: ok, mode_after: wrong_value}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    return losses


# %% train_step_of_zero
# Steps once more after each epoch, from gradients of zero and with no momentum: nothing moves.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: ok, losses: ok, steps: wrong_value, rows_seen: ok, learns: ok}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
        optimizer.zero_grad()
        rates = [group["lr"] for group in optimizer.param_groups]
        for group in optimizer.param_groups:
            group["lr"] = 0.0
        momenta = {w: s.get("momentum_buffer") for w, s in optimizer.state.items()}
        kept = {w: m.clone() for w, m in momenta.items() if m is not None}
        optimizer.step()
        for w, m in kept.items():
            optimizer.state[w]["momentum_buffer"] = m
        for group, rate in zip(optimizer.param_groups, rates):
            group["lr"] = rate
    net.train(was_training)
    return losses


# %% train_step_outside
# One step an epoch, after all batches.
# expect:
#   questions:
#     train_minibatch: {status: partial, points: 7, checks: {weights: wrong_value, losses: wrong_value}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            total += loss.item() * len(xx)
            rows += len(xx)
        optimizer.step()
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_step_skipped
# No step for a last, smaller batch.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: wrong_value}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            if len(xx) == loader.batch_size:
                optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_step_twice
# Two steps from one gradient.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: wrong_value, losses: wrong_value}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_stops_too_early
# Stops as soon as the loss rises.
# expect:
#   questions:
#     train_minibatch: {status: partial}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
        if len(losses) > 1 and losses[-1] > losses[0] / 2:
            break
    net.train(was_training)
    return losses


# %% train_sum_of_losses
# The sum over the rows, not their mean.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: ok, losses: wrong_value}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total)
    net.train(was_training)
    return losses


# %% train_swaps_arguments
# Gives the loss the labels first.
# expect:
#   questions:
#     train_minibatch: {status: partial, points: 8.4, checks: {weights: wrong_value, losses: wrong_value, learns: wrong_value}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(yy, net(xx))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_tidies_labels
# Writes over the labels after the last epoch.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: ok, unmodified: input_modified}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    loader.dataset.tensors[1].zero_()
    return losses


# %% train_whole_set
# One step an epoch from all rows: no mini-batches.
# expect:
#   questions:
#     train_minibatch: {status: failed, checks: {weights: wrong_value, losses: wrong_value, learns: wrong_value}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    X, y = loader.dataset.tensors
    losses = []
    for _ in range(epochs):
        loss = loss_fn(net(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% train_zero_grad_once_an_epoch
# Gradients are set to zero once an epoch only.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: wrong_value, losses: wrong_value}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        optimizer.zero_grad()
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% train_zero_grad_too_late
# Gradients are set to zero between backward and step: nothing moves.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: wrong_value, learns: wrong_value}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            loss.backward()
            optimizer.zero_grad()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses
