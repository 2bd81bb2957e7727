# Wrong ways to write normalize_columns. docs/authoring.md explains the cells.
# right: batched_matrix_multiply_loop, batched_matrix_multiply_noloop, mm_on_gpu

import torch


# %% missing_module_used
# Imports a module that is not installed; one function needs it, the others do not.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: raised}
#     "*": {status: passed}

import cv2


def normalize_columns(x):
    return torch.from_numpy(cv2.normalize(x.numpy(), None))


# %% misspelt_function
# One function has a name of its own.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: missing_function}
#     "*": {status: passed}

def normalise_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    return (x - mean) / std


# %% normalize_always_float32
# Returns float32, whatever comes in.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, float64: wrong_value, dtype: wrong_dtype}}
#     "*": {status: passed}

def normalize_columns(x):
    y = x.float()
    y = y - y.sum(dim=0) / y.shape[0]
    return y / ((y**2).sum(dim=0) / (y.shape[0] - 1)).sqrt()


# %% normalize_avg_pool
# The mean of one pool over all rows.
# right: none
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

import torch.nn.functional as F


def normalize_columns(x):
    m = F.avg_pool1d(x.t()[None], x.shape[0])[0, :, 0]
    c = x - m
    return c / ((c**2).sum(0)/(x.shape[0]-1)).sqrt()


# %% normalize_by_columns
# Divides by the number of columns; a square example does not show it.
# expect:
#   questions:
#     normalize_columns: {status: partial, code: wrong_value, points: 1.5}
#     "*": {status: passed}

def normalize_columns(x):
    n = x.shape[1]
    mean = x.sum(dim=0) / n
    std = (((x - mean) ** 2).sum(dim=0) / (n - 1)).sqrt()
    return (x - mean) / std


# %% normalize_by_m
# Divides by M where M - 1 is asked for.
# expect:
#   questions:
#     normalize_columns: {status: partial, code: wrong_value, points: 2.5}
#     "*": {status: passed}

def normalize_columns(x):
    m = x.shape[0]
    mean = x.sum(dim=0) / m
    std = (((x - mean) ** 2).sum(dim=0) / m).sqrt()
    return (x - mean) / std


# %% normalize_squares_by_n
# Divides the squares by the number of columns.
# expect:
#   questions:
#     normalize_columns: {status: partial, code: wrong_value, points: 1.5, says: "by N, the number of columns; the divisor is M - 1"}
#     "*": {status: passed}


def normalize_columns(x):
    centred = x - x.sum(0) / x.size(0)
    return centred / torch.sqrt(centred.pow(2).sum(0) / x.size(1))


# %% normalize_by_variance
# Divides by the variance: the root is missing.
# expect:
#   questions:
#     normalize_columns: {status: partial, code: wrong_value, points: 2}
#     "*": {status: passed}

def normalize_columns(x):
    mean = x.sum(dim=0) / x.shape[0]
    return (x - mean) / (((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1))


# %% normalize_centres_only
# Only subtracts the mean.
# expect:
#   questions:
#     normalize_columns: {status: partial, code: wrong_value, points: 1.875}
#     "*": {status: passed}

def normalize_columns(x):
    return x - x.sum(dim=0) / x.shape[0]


# %% normalize_by_batch_norm
# A layer that normalises by mean and deviation inside.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, small_numbers: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

def normalize_columns(x):
    M = x.shape[0]
    y = torch.nn.functional.batch_norm(x, None, None, training=True, eps=1e-12)
    return y * ((M - 1) / M) ** 0.5


# %% normalize_clamped
# Keeps the deviation above 1e-3, so that columns of numbers near together stay small.
# right: none
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, small_numbers: wrong_value}}

def normalize_columns(x):
    c = x - x.sum(0) / x.shape[0]
    return c / ((c**2).sum(0) / (x.shape[0] - 1)).sqrt().clamp(min=1e-3)


# %% normalize_covariance
# The deviations are on the diagonal of the covariance.
# right: none
# expect:
#   questions:
#     normalize_columns: {status: deferred, checks: {values: ok, no_loops: needs_review, no_mean_or_std: forbidden_call}}

def normalize_columns(x):
    c = x - x.sum(0)/x.shape[0]
    return c / torch.cov(x.t()).reshape(x.shape[1],x.shape[1]).diag().sqrt()


# %% normalize_embedding_bag
# The mean of one bag of all rows.
# right: none
# expect:
#   questions:
#     normalize_columns: {status: deferred, checks: {values: ok, no_loops: needs_review, no_mean_or_std: forbidden_call}}

import torch.nn.functional as F


def normalize_columns(x):
    m = F.embedding_bag(torch.arange(x.shape[0])[None], x, mode="mean")[0]
    c = x - m
    return c / ((c**2).sum(0)/(x.shape[0]-1)).sqrt()


# %% normalize_empty
# A tensor without elements: nothing in it differs.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: wrong_shape}
#     "*": {status: passed}

def normalize_columns(x):
    return x[:0]


# %% normalize_example_only
# The handout's answer, whatever is asked.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: wrong_shape}
#     "*": {status: passed}

def normalize_columns(x):
    return torch.tensor([[0.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 0.0, 0.0]])


# %% normalize_float32_inside
# Computes in float32, whatever comes in.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, float64: wrong_value, dtype: ok}}
#     "*": {status: passed}

def normalize_columns(x):
    y = x.float()
    y = y - y.sum(dim=0) / y.shape[0]
    y = y / ((y**2).sum(dim=0) / (y.shape[0] - 1)).sqrt()
    return y.to(x.dtype)


# %% normalize_group_norm
# group_norm with a group for each column.
# right: none
# expect:
#   questions:
#     normalize_columns: {status: deferred, checks: {values: ok, no_loops: needs_review, no_mean_or_std: forbidden_call}}

import torch.nn.functional as F


def normalize_columns(x):
    m = x.shape[0]
    return F.group_norm(x.t()[None], x.shape[1], eps=0.0)[0].t() * ((m-1)/m)**0.5


# %% normalize_in_place
# Right values, written into the input.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {unmodified: input_modified, values: ok}}
#     "*": {status: passed}

def normalize_columns(x):
    x -= x.sum(dim=0) / x.shape[0]
    x /= ((x**2).sum(dim=0) / (x.shape[0] - 1)).sqrt()
    return x


# %% normalize_layer_norm
# layer_norm on the transposed matrix: mean and deviation at once.
# right: none
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

import torch.nn.functional as F


def normalize_columns(x):
    m = x.shape[0]
    return F.layer_norm(x.t(), (m,), eps=0.0).t() * ((m-1)/m)**0.5


# %% normalize_loop
# Column by column.
# right: none
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: loop_found, no_mean_or_std: ok}}

def normalize_columns(x):
    y = x.clone()
    rows = x.shape[0]
    for j in range(x.shape[1]):
        y[:, j] -= x[:, j].sum() / rows
        y[:, j] /= ((y[:, j] ** 2).sum() / (rows - 1)) ** 0.5
    return y


# %% normalize_masked_mean
# torch.masked.mean, of which no mode of torch's is told.
# right: none
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

def normalize_columns(x):
    c = x - torch.masked.mean(x, 0)
    return c / ((c**2).sum(0)/(x.shape[0]-1)).sqrt()


# %% normalize_mean
# x.mean, which is not allowed.
# right: none
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

def normalize_columns(x):
    centred = x - x.mean(dim=0, keepdim=True)
    return centred / (centred.square().sum(dim=0) / (x.shape[0] - 1)).sqrt()


# %% normalize_nan
# The root of a negative number: every value is NaN.
# expect:
#   questions:
#     normalize_columns: {status: partial, code: not_finite}
#     "*": {status: passed}

def normalize_columns(x):
    mean = x.sum(dim=0) / x.shape[0]
    return (x - mean) / torch.sqrt(-((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1))


# %% normalize_nanmean
# torch.nanmean, which torch makes of other operations.
# right: none
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

def normalize_columns(x):
    c = x - torch.nanmean(x, dim=0)
    return c / ((c**2).sum(0)/(x.shape[0]-1)).sqrt()


# %% normalize_numpy_average
# numpy.average.
# right: none
# expect:
#   questions:
#     normalize_columns: {status: deferred, checks: {values: ok, no_loops: needs_review, no_mean_or_std: forbidden_call}}

import torch, numpy as np


def normalize_columns(x):
    a = x.numpy()
    c = x - torch.from_numpy(np.average(a, axis=0))
    return c / ((c**2).sum(0)/(x.shape[0]-1)).sqrt()


# %% normalize_numpy_methods
# numpy's mean and std: as methods of an array.
# right: none
# expect:
#   questions:
#     normalize_columns: {status: deferred, checks: {values: ok, no_loops: needs_review, no_mean_or_std: forbidden_call}}

def normalize_columns(x):
    a = x.numpy()
    return torch.from_numpy((a - a.mean(0)) / a.std(0, ddof=1))


# %% normalize_one_number
# A tensor of shape (1,), which broadcasts against anything.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: wrong_shape}
#     "*": {status: passed}

def normalize_columns(x):
    return torch.zeros(1, dtype=x.dtype)


# %% normalize_returns_int
# Returns whole numbers.
# expect:
#   questions:
#     normalize_columns: {status: partial, code: wrong_value}
#     "*": {status: passed}

def normalize_columns(x):
    mean = x.sum(dim=0) / x.shape[0]
    std = (((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1)).sqrt()
    return ((x - mean) / std).to(torch.int64)


# %% normalize_rows
# Normalises rows instead of columns.
# expect:
#   questions:
#     normalize_columns: {status: partial, code: wrong_value, points: 1}
#     "*": {status: passed}

def normalize_columns(x):
    n = x.shape[1]
    mean = x.sum(dim=1, keepdim=True) / n
    std = (((x - mean) ** 2).sum(dim=1, keepdim=True) / (n - 1)).sqrt()
    return (x - mean) / std


# %% normalize_scatter_mean
# scatter_reduce by a mean.
# right: none
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

def normalize_columns(x):
    i = torch.zeros(x.shape, dtype=torch.int64)
    m = torch.zeros(1, x.shape[1], dtype=x.dtype).scatter_reduce(0, i, x, "mean", include_self=False)
    c = x - m
    return c / ((c**2).sum(0)/(x.shape[0]-1)).sqrt()


# %% normalize_squeezes
# Squeezes its result, which drops N where N is 1.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, shape: wrong_shape}}
#     "*": {status: passed}

def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    return ((x - mean) / std).squeeze()


# %% normalize_std
# torch.std, which is not allowed.
# right: none
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

def normalize_columns(x):
    return (x - x.sum(dim=0) / x.shape[0]) / torch.std(x, dim=0)


# %% normalize_std_mean
# Both at once, by another name.
# right: none
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_mean_or_std: forbidden_call}}

from torch import std_mean


def normalize_columns(x):
    std, mean = std_mean(x, dim=0)
    return (x - mean) / std


# %% normalize_through_view
# Changes the input through a view of it.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {unmodified: input_modified, values: ok}}
#     "*": {status: passed}

def normalize_columns(x):
    y = x.t()
    y.sub_((y.sum(dim=1) / y.shape[1]).view(-1, 1))
    y.div_((y.pow(2).sum(dim=1) / (y.shape[1] - 1)).sqrt().view(-1, 1))
    return x.clone()


# %% normalize_truncates
# Rounds to whole numbers on the way.
# expect:
#   questions:
#     normalize_columns: {status: partial, code: wrong_value}
#     "*": {status: passed}

def normalize_columns(x):
    mean = (x.sum(dim=0) / x.shape[0]).long()
    std = (((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1)).sqrt()
    return (x - mean) / std


# %% normalize_whole
# One mean and one deviation for the whole matrix.
# expect:
#   questions:
#     normalize_columns: {status: partial, code: wrong_value, points: 1}
#     "*": {status: passed}

def normalize_columns(x):
    n = x.numel()
    mean = x.sum() / n
    return (x - mean) / (((x - mean) ** 2).sum() / (n - 1)).sqrt()


# %% normalize_wrong_axis
# Sums along the wrong axis, which broadcasts on square matrices only.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: raised}
#     "*": {status: passed}

def normalize_columns(x):
    mean = x.sum(dim=1) / x.shape[1]
    return (x - mean) / (((x - mean) ** 2).sum(dim=1) / (x.shape[1] - 1)).sqrt()


# %% not_callable
# The name is there, but it is not a function.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: missing_function}
#     "*": {status: passed}

normalize_columns = 3


# %% prints_answer
# Prints the answer where it should return it.
# expect:
#   questions:
#     normalize_columns: {status: partial, code: returned_nothing, says: is a `return` missing}
#     "*": {status: passed}

def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    print((x - mean) / std)


# %% raises
# Raises an exception of its own.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: raised}
#     "*": {status: passed}

def normalize_columns(x):
    raise ValueError("I do not know how")


# %% raises_name_error
# Uses a name that is not defined.
# expect:
#   questions:
#     normalize_columns: {status: partial, code: raised}
#     "*": {status: passed}

def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = math.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    return (x - mean) / std


# %% return_forgotten
# Computes the answer and forgets to return it.
# expect:
#   questions:
#     normalize_columns: {status: partial, code: returned_nothing, says: is a `return` missing}
#     "*": {status: passed}

def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    y = (x - mean) / std


# %% stub_pass
# A stub left as pass.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: not_implemented}
#     "*": {status: passed}

def normalize_columns(x):
    """Shift and scale each column."""
    pass


# %% hidden_by_a_stub
# Written, and below it once more, as a cell of a notebook that was never filled.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: returned_nothing, says: again}
#     "*": {status: passed}

def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    return (x - mean) / torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))


def normalize_columns(x):
    pass


# %% raise_left_standing
# Written, but the starter's raise stands at the end of it, where a return should: two slips.
# expect:
#   questions:
#     normalize_columns: {status: partial, points: 1.8, code: raised, says: not written yet}
#     "*": {status: passed}

def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    y = (x - mean) / torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    raise NotImplementedError("normalize_columns is not written yet")
