# Wrong ways to write sample_batch. docs/authoring.md explains the cells.

import torch


# %% batch_first_rows
# Always the first rows, again and again.
# expect:
#   questions:
#     sample_batch: {status: partial, checks: {size: ok, pairs: requirement_not_met, every_row: requirement_not_met, anew: wrong_value}}

def sample_batch(X, y, batch_size):
    rows = torch.arange(batch_size) % len(X)
    return X[rows], y[rows]


# %% batch_labels_drawn_apart
# Labels are drawn on their own.
# expect:
#   questions:
#     sample_batch: {status: partial, checks: {size: ok, anew: ok, pairs: wrong_value}}

def sample_batch(X, y, batch_size):
    return X[torch.randint(len(X), (batch_size,))], y[torch.randint(len(X), (batch_size,))]


# %% batch_never_the_last_row
# The last row is never drawn.
# expect:
#   questions:
#     sample_batch: {status: partial, checks: {size: ok, pairs: ok, every_row: wrong_value, anew: ok}}

def sample_batch(X, y, batch_size):
    rows = torch.randint(len(X) - 1, (batch_size,))
    return X[rows], y[rows]


# %% batch_no_row_twice
# Draws without putting back: too few where more are asked for than there are.
# expect:
#   questions:
#     sample_batch: {status: partial, checks: {size: wrong_value, pairs: ok, every_row: ok, anew: ok}}

def sample_batch(X, y, batch_size):
    rows = torch.randperm(len(X))[:batch_size]
    return X[rows], y[rows]


# %% batch_of_nothing
# Slices where nothing is.
# expect:
#   questions:
#     sample_batch: {status: failed, checks: {size: wrong_value, anew: wrong_value}}

def sample_batch(X, y, batch_size):
    return X[len(X) : batch_size], y[len(X) : batch_size]


# %% batch_of_one_row
# One row, whatever is asked for.
# expect:
#   questions:
#     sample_batch: {status: failed, checks: {size: wrong_value, anew: wrong_value}}

def sample_batch(X, y, batch_size):
    row = torch.randint(len(X), (1,))
    return X[row], y[row]
