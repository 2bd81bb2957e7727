# Wrong ways to write predict. docs/authoring.md explains the cells.

import torch


# %% predict_at_once
# All rows at once, whatever the batch size.
# expect:
#   questions:
#     predict: {status: partial, checks: {probabilities: ok, in_batches: wrong_value}}

def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    with torch.no_grad():
        result = torch.sigmoid(net(X))
    net.train(was_training)
    return result


# %% predict_drops_rest
# The rows left over are dropped.
# expect:
#   questions:
#     predict: {status: partial, points: 3, checks: {all_rows: wrong_shape, probabilities: wrong_shape}}

def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    parts = []
    with torch.no_grad():
        for start in range(0, len(X) - batch_size + 1, batch_size):
            parts.append(torch.sigmoid(net(X[start : start + batch_size])))
    net.train(was_training)
    return torch.cat(parts)


# %% predict_flat
# A vector, not a column.
# expect:
#   questions:
#     predict: {status: partial, points: 4.2, checks: {probabilities: wrong_shape, all_rows: wrong_shape}}

def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), batch_size):
            parts.append(torch.sigmoid(net(X[start : start + batch_size])))
    net.train(was_training)
    return torch.cat(parts).flatten()


# %% predict_float32_only
# Rounds to whole percents.
# expect:
#   questions:
#     predict: {status: partial, code: wrong_value}

def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), batch_size):
            parts.append(torch.sigmoid(net(X[start : start + batch_size])))
    net.train(was_training)
    return (100 * torch.cat(parts)).round() / 100


# %% predict_gradients
# Gradients are recorded, and cut off at the end.
# expect:
#   questions:
#     predict: {status: partial, checks: {probabilities: ok, no_gradient: wrong_value}}

def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    parts = []
    with torch.enable_grad():
        for start in range(0, len(X), batch_size):
            parts.append(torch.sigmoid(net(X[start : start + batch_size])))
    net.train(was_training)
    return torch.cat(parts).detach()


# %% predict_labels
# Rounded to 0 and 1.
# expect:
#   questions:
#     predict: {status: partial, points: 3, checks: {probabilities: wrong_value, all_rows: wrong_value}}

def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), batch_size):
            parts.append(torch.sigmoid(net(X[start : start + batch_size])))
    net.train(was_training)
    return torch.cat(parts).round()


# %% predict_last_batch
# The lecture's mistake: what is left after the loop is the last batch, 108 of 12396 rows.
# expect:
#   questions:
#     predict: {status: partial, points: 2.4, checks: {probabilities: wrong_shape, all_rows: wrong_shape}}

def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), batch_size):
            yyhat = torch.sigmoid(net(X[start : start + batch_size]))
    net.train(was_training)
    return yyhat


# %% predict_list
# A list of batches.
# expect:
#   mistakes: [predict_in_a_list]
#   questions:
#     predict: {status: partial, code: wrong_type, points: 4.2}

def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), batch_size):
            parts.append(torch.sigmoid(net(X[start : start + batch_size])))
    net.train(was_training)
    return parts


# %% predict_logits
# No sigmoid: these are no probabilities.
# expect:
#   questions:
#     predict: {status: partial, points: 3.6, checks: {probabilities: wrong_value, all_rows: wrong_value}}

def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), batch_size):
            parts.append(net(X[start : start + batch_size]))
    net.train(was_training)
    return torch.cat(parts)


# %% predict_shuffled
# In the order of a shuffled loader.
# expect:
#   questions:
#     predict: {status: partial, checks: {probabilities: wrong_value, all_rows: wrong_value}}

def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    parts = []
    X = X[torch.randperm(len(X))]
    with torch.no_grad():
        for start in range(0, len(X), batch_size):
            parts.append(torch.sigmoid(net(X[start : start + batch_size])))
    net.train(was_training)
    return torch.cat(parts)


# %% predict_standardizes
# Centres X itself, and puts it back; but not quite.
# expect:
#   questions:
#     predict: {status: partial, checks: {unmodified: input_modified}}

def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), batch_size):
            parts.append(torch.sigmoid(net(X[start : start + batch_size])))
    net.train(was_training)
    X += 1e-3
    return torch.cat(parts)


# %% predict_stays_in_eval
# Leaves the net in eval mode.
# expect:
#   questions:
#     predict: {status: partial, checks: {probabilities: ok, mode_after: wrong_value}}

def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), batch_size):
            parts.append(torch.sigmoid(net(X[start : start + batch_size])))
    return torch.cat(parts)


# %% predict_train_mode
# Eval mode forgotten.
# expect:
#   questions:
#     predict: {status: partial, points: 3, checks: {probabilities: wrong_value, all_rows: wrong_value}}

def predict(net, X, batch_size):
    was_training = net.training
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), batch_size):
            parts.append(torch.sigmoid(net(X[start : start + batch_size])))
    net.train(was_training)
    return torch.cat(parts)
