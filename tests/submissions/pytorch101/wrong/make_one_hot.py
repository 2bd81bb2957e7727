# Wrong ways to write make_one_hot. docs/authoring.md explains the cells.

import torch


# %% hot_distinct_classes
# As many columns as different classes.
# expect:
#   questions:
#     make_one_hot: {status: failed, code: wrong_shape}

def make_one_hot(x):
    y = torch.zeros(len(x), len(set(x)) + 1)
    y[torch.arange(len(x)), torch.tensor(x).clamp(max=len(set(x)))] = 1
    return y


# %% hot_empties_its_list
# Empties the list that it got.
# expect:
#   questions:
#     make_one_hot: {status: partial, checks: {values: ok, unmodified: input_modified}}

def make_one_hot(x):
    t = torch.tensor(x)
    y = torch.zeros(len(x), max(x) + 1)
    y[torch.arange(len(x)), t] = 1
    x.clear()
    return y


# %% hot_five_classes
# The five columns of the example.
# expect:
#   questions:
#     make_one_hot: {status: failed, code: wrong_shape}

def make_one_hot(x):
    y = torch.zeros(len(x), 5)
    y[torch.arange(len(x)), torch.tensor(x).clamp(max=4)] = 1
    return y


# %% hot_greatest_left_out
# Forgets that class 0 needs a column too: a slip.
# expect:
#   questions:
#     make_one_hot: {status: partial, points: 1.8, checks: {values: raised}}

def make_one_hot(x):
    y = torch.zeros(len(x), max(x))
    y[torch.arange(len(x)), x] = 1
    return y


# %% hot_index_by_comprehension
# A comprehension that only builds an index is a comprehension all the same.
# expect:
#   questions:
#     make_one_hot: {status: partial, checks: {values: ok, dtype: ok, no_loops: loop_found}}

def make_one_hot(x):
    y = torch.zeros(len(x), max(x) + 1)
    y[[i for i in range(len(x))], x] = 1
    return y


# %% hot_loop
# Row by row.
# expect:
#   questions:
#     make_one_hot: {status: partial, checks: {values: ok, dtype: ok, no_loops: loop_found}}

def make_one_hot(x):
    y = torch.zeros(len(x), max(x) + 1)
    for i, label in enumerate(x):
        y[i, label] = 1
    return y


# %% hot_sorts_its_list
# Sorts the list that it got.
# expect:
#   questions:
#     make_one_hot: {status: partial, checks: {values: ok, unmodified: input_modified}}

def make_one_hot(x):
    n = len(x)
    c = max(x) + 1
    y = torch.zeros(n, c)
    y[torch.arange(n), x] = 1
    x.sort()
    return y


# %% hot_whole_columns
# Sets the columns of all classes in every row.
# expect:
#   questions:
#     make_one_hot: {status: partial, points: 1.2, checks: {values: wrong_value}}

def make_one_hot(x):
    y = torch.zeros(len(x), max(x) + 1)
    y[:, x] = 1
    return y


# %% hot_whole_numbers
# int64, which F.one_hot returns.
# expect:
#   questions:
#     make_one_hot: {status: partial, checks: {values: ok, dtype: wrong_dtype}}

import torch.nn.functional as F


def make_one_hot(x):
    return F.one_hot(torch.tensor(x))
