# Wrong ways to write mutate_tensor. docs/authoring.md explains the cells.

import torch


# %% mutate_adds
# Adds the values to what is there.
# expect:
#   questions:
#     mutate_tensor: {status: partial, points: 1.5, checks: {values: wrong_value}}

def mutate_tensor(x, indices, values):
    for index, value in zip(indices, values):
        x[index] += value
    return x


# %% mutate_copy
# Writes into a copy and returns that.
# expect:
#   questions:
#     mutate_tensor: {status: partial, checks: {values: ok, in_place: not_in_place}}

def mutate_tensor(x, indices, values):
    y = x.clone()
    for index, value in zip(indices, values):
        y[index] = value
    return y


# %% mutate_first_stays
# Where a place comes twice, the first value stays.
# expect:
#   questions:
#     mutate_tensor: {status: failed, checks: {values: wrong_value}}

def mutate_tensor(x, indices, values):
    for index, value in zip(reversed(indices), reversed(values)):
        x[index] = value
    return x


# %% mutate_needs_one
# Takes the index lists apart in a way that fails where there is nothing to write.
# expect:
#   questions:
#     mutate_tensor: {status: partial, code: raised}

def mutate_tensor(x, indices, values):
    rows, columns = zip(*indices)
    for row, column, value in zip(rows, columns, values):
        x[row, column] = value
    return x


# %% mutate_returns_copy
# Writes in place as asked, and then returns a copy.
# expect:
#   questions:
#     mutate_tensor: {status: partial, checks: {values: ok, in_place: not_in_place}}

def mutate_tensor(x, indices, values):
    for index, value in zip(indices, values):
        x[index] = value
    return torch.tensor(x)


# %% mutate_returns_nothing
# Writes in place and forgets the return.
# expect:
#   questions:
#     mutate_tensor: {status: partial, code: returned_nothing, says: is a `return` missing}

def mutate_tensor(x, indices, values):
    for index, value in zip(indices, values):
        x[index] = value


# %% mutate_returns_view
# Returns a view of x.
# expect:
#   questions:
#     mutate_tensor: {status: partial, checks: {values: ok, in_place: not_in_place}}

def mutate_tensor(x, indices, values):
    for i, v in zip(indices, values):
        x[i] = v
    return x[:]


# %% mutate_swaps_row_and_column
# Row and column change places; on most matrices that is out of bounds.
# expect:
#   questions:
#     mutate_tensor: {status: partial, code: raised}

def mutate_tensor(x, indices, values):
    for (i, j), value in zip(indices, values):
        x[j, i] = value
    return x
