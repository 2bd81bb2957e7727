# Right ways to write normalize_columns. docs/authoring.md explains the cells.
# right: batched_matrix_multiply_loop, batched_matrix_multiply_noloop, mm_on_gpu

import torch


# %% copy_then_in_place
# In place, but on a copy: the input stays as it was.
# expect:
#   questions:
#     "*": {status: passed}

def normalize_columns(x):
    y = x.clone()
    y -= y.sum(dim=0) / y.shape[0]
    y /= (y.pow(2).sum(dim=0) / (y.shape[0] - 1)).sqrt()
    return y


# %% matrix_of_ones
# Sums as products with ones.
# expect:
#   questions:
#     "*": {status: passed}

def normalize_columns(x):
    m = x.shape[0]
    ones = torch.ones((1, m), dtype=x.dtype)
    centred = x - torch.mm(ones, x) / m
    return centred / torch.sqrt(torch.mm(ones, centred * centred) / (m - 1))


# %% missing_module_inside
# A function imports a module that is missing, but only for its picture.
# expect:
#   questions:
#     "*": {status: passed}

def normalize_columns(x):
    try:
        import seaborn
    except ImportError:
        seaborn = None
    mean = x.sum(0) / x.shape[0]
    return (x - mean) / (((x - mean) ** 2).sum(0) / (x.shape[0] - 1)).sqrt()


# %% norm_of_columns
# The deviation as a vector norm.
# expect:
#   questions:
#     "*": {status: passed}

def normalize_columns(x):
    centred = x - x.sum(dim=0) / x.shape[0]
    return centred * (x.shape[0] - 1) ** 0.5 / torch.linalg.norm(centred, dim=0)


# %% rebinding
# Gives the parameter's name a new value, which does not touch the input.
# expect:
#   questions:
#     "*": {status: passed}

def normalize_columns(x):
    x = x - x.sum(dim=0) / x.shape[0]
    x = x / torch.sqrt((x * x).sum(dim=0) / (x.shape[0] - 1))
    return x


# %% requires_grad
# Returns a result that autograd follows.
# expect:
#   questions:
#     "*": {status: passed}

def normalize_columns(x):
    scale = torch.ones((), dtype=x.dtype, requires_grad=True)
    c = x - x.sum(0) / x.shape[0]
    return scale * c / ((c**2).sum(0) / (x.shape[0] - 1)).sqrt()


# %% sum_of_squares
# The variance as (sum of squares - M * mean²) / (M - 1): right, and a little less precise.
# expect:
#   questions:
#     "*": {status: passed}

def normalize_columns(x):
    m = x.shape[0]
    mean = x.sum(dim=0) / m
    variance = ((x**2).sum(dim=0) - m * mean**2) / (m - 1)
    return (x - mean) / variance**0.5
