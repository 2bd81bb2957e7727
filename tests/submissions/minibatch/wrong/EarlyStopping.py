# Wrong ways to write EarlyStopping. docs/authoring.md explains the cells.

import copy
import math
import torch


# %% stopping_compares_with_last
# Compares with the epoch before, not with the best.
# expect:
#   questions:
#     EarlyStopping: {status: partial, checks: {patience: wrong_type}}

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = float("inf")
        self.best = None
        self.waited = 0

    def step(self, loss, net):
        if math.isnan(loss):
            return True
        if self.best_loss - loss > self.min_delta:
            self.best_loss = loss
            self.best = copy.deepcopy(net.state_dict())
            self.waited = 0
        else:
            self.waited += 1
        self.best_loss = loss
        return self.waited >= self.patience

    def restore(self, net):
        net.load_state_dict(self.best)


# %% stopping_counts_all
# Counts all epochs without improvement, not those in a row.
# expect:
#   questions:
#     EarlyStopping: {status: partial, points: 4.75, checks: {patience: wrong_type, min_delta: wrong_type}, says: 'Length of the list of what step returned (series '}

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = float("inf")
        self.best = None
        self.waited = 0

    def step(self, loss, net):
        if math.isnan(loss):
            return True
        if self.best_loss - loss > self.min_delta:
            self.best_loss = loss
            self.best = copy.deepcopy(net.state_dict())
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, net):
        net.load_state_dict(self.best)


# %% stopping_equal_is_better
# A loss that is equal to the best counts as an improvement.
# expect:
#   questions:
#     EarlyStopping: {status: partial, checks: {patience: wrong_type}}

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = float("inf")
        self.best = None
        self.waited = 0

    def step(self, loss, net):
        if math.isnan(loss):
            return True
        if self.best_loss - loss >= self.min_delta:
            self.best_loss = loss
            self.best = copy.deepcopy(net.state_dict())
            self.waited = 0
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, net):
        net.load_state_dict(self.best)


# %% stopping_first_weights
# Keeps the first weights.
# expect:
#   questions:
#     EarlyStopping: {status: partial, checks: {patience: ok, best_weights: wrong_value}}

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = float("inf")
        self.best = None
        self.waited = 0

    def step(self, loss, net):
        if math.isnan(loss):
            return True
        if self.best_loss - loss > self.min_delta:
            self.best_loss = loss
            self.best = self.best or copy.deepcopy(net.state_dict())
            self.waited = 0
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, net):
        net.load_state_dict(self.best)


# %% stopping_forgets_best_loss
# best_loss is the last loss.
# expect:
#   questions:
#     EarlyStopping: {status: partial, checks: {patience: ok, best_loss: wrong_value}}

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = float("inf")
        self.best = None
        self.lowest = float("inf")
        self.waited = 0

    def step(self, loss, net):
        self.best_loss = loss
        if math.isnan(loss):
            return True
        if self.lowest - loss > self.min_delta:
            self.lowest = loss
            self.best = copy.deepcopy(net.state_dict())
            self.waited = 0
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, net):
        net.load_state_dict(self.best)


# %% stopping_keeps_nan
# Stops at NaN, but keeps the weights that gave it.
# expect:
#   questions:
#     EarlyStopping: {status: partial, checks: {nan: ok, best_before_nan: wrong_value}}

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = float("inf")
        self.best = None
        self.waited = 0

    def step(self, loss, net):
        if math.isnan(loss):
            self.best = copy.deepcopy(net.state_dict())
            return True
        if self.best_loss - loss > self.min_delta:
            self.best_loss = loss
            self.best = copy.deepcopy(net.state_dict())
            self.waited = 0
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, net):
        net.load_state_dict(self.best)


# %% stopping_last_weights
# Keeps the weights as they are now, and they go on changing.
# expect:
#   questions:
#     EarlyStopping: {status: partial, checks: {patience: ok, best_weights: wrong_value}}

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = float("inf")
        self.best = None
        self.waited = 0

    def step(self, loss, net):
        if math.isnan(loss):
            return True
        if self.best_loss - loss > self.min_delta:
            self.best_loss = loss
            self.best = net.state_dict()
            self.waited = 0
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, net):
        net.load_state_dict(self.best)


# %% stopping_min_delta_wrong_way
# A loss may be worse by min_delta and still count as an improvement.
# expect:
#   mistakes: [stopping_no_min_delta]
#   questions:
#     EarlyStopping: {status: partial, checks: {patience: ok, min_delta: wrong_type}}

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = float("inf")
        self.best = None
        self.waited = 0

    def step(self, loss, net):
        if math.isnan(loss):
            return True
        if loss < self.best_loss + self.min_delta:
            self.best_loss = loss
            self.best = copy.deepcopy(net.state_dict())
            self.waited = 0
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, net):
        net.load_state_dict(self.best)


# %% stopping_nan_is_best
# NaN counts as an improvement.
# expect:
#   mistakes: [stopping_waits_for_nan]
#   questions:
#     EarlyStopping: {status: partial, checks: {patience: ok, nan: wrong_type}}

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = float("inf")
        self.best = None
        self.waited = 0

    def step(self, loss, net):
        if not loss >= self.best_loss - self.min_delta:
            self.best_loss = loss
            self.best = copy.deepcopy(net.state_dict())
            self.waited = 0
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, net):
        net.load_state_dict(self.best)


# %% stopping_no_min_delta
# min_delta is forgotten.
# expect:
#   questions:
#     EarlyStopping: {status: partial, checks: {patience: ok, min_delta: wrong_type}}

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = float("inf")
        self.best = None
        self.waited = 0

    def step(self, loss, net):
        if math.isnan(loss):
            return True
        if loss < self.best_loss:
            self.best_loss = loss
            self.best = copy.deepcopy(net.state_dict())
            self.waited = 0
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, net):
        net.load_state_dict(self.best)


# %% stopping_one_early
# One epoch too early.
# expect:
#   questions:
#     EarlyStopping: {status: partial, checks: {patience: wrong_type}}

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = float("inf")
        self.best = None
        self.waited = 0

    def step(self, loss, net):
        if math.isnan(loss):
            return True
        if self.best_loss - loss > self.min_delta:
            self.best_loss = loss
            self.best = copy.deepcopy(net.state_dict())
            self.waited = 0
        else:
            self.waited += 1
        return self.waited >= self.patience - 1

    def restore(self, net):
        net.load_state_dict(self.best)


# %% stopping_one_late
# One epoch too late.
# expect:
#   questions:
#     EarlyStopping: {status: partial, checks: {patience: wrong_type, nan: ok}}

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = float("inf")
        self.best = None
        self.waited = 0

    def step(self, loss, net):
        if math.isnan(loss):
            return True
        if self.best_loss - loss > self.min_delta:
            self.best_loss = loss
            self.best = copy.deepcopy(net.state_dict())
            self.waited = 0
        else:
            self.waited += 1
        return self.waited > self.patience

    def restore(self, net):
        net.load_state_dict(self.best)


# %% stopping_parameters_only
# Restores the parameters, and not BatchNorm's statistics.
# expect:
#   questions:
#     EarlyStopping: {status: partial, checks: {patience: ok, best_weights: wrong_value}}

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = float("inf")
        self.best = None
        self.waited = 0

    def step(self, loss, net):
        if math.isnan(loss):
            return True
        if self.best_loss - loss > self.min_delta:
            self.best_loss = loss
            self.best = copy.deepcopy(net.state_dict())
            self.waited = 0
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, net):
        names = dict(net.named_parameters())
        net.load_state_dict({k: v for k, v in self.best.items() if k in names}, strict=False)


# %% stopping_waits_for_nan
# NaN counts as an epoch without improvement.
# expect:
#   questions:
#     EarlyStopping: {status: partial, checks: {patience: ok, nan: wrong_type}}

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = float("inf")
        self.best = None
        self.waited = 0

    def step(self, loss, net):
        if self.best_loss - loss > self.min_delta:
            self.best_loss = loss
            self.best = copy.deepcopy(net.state_dict())
            self.waited = 0
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, net):
        net.load_state_dict(self.best)
