# Wrong ways to write compute_distances_no_loops. docs/authoring.md explains the cells.

import torch


# %% none_broadcasts
# All differences at once: num_train × num_test × D numbers in memory.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {values: ok, no_loops: ok, memory: too_much_memory}}

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return ((a[:, None] - b[None]) ** 2).sum(dim=2)


# %% none_cdist
# torch.cdist, which is not allowed.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {no_loops: requirement_not_met, no_shortcut: forbidden_call}}

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1).double(), x_test.flatten(1).double()
    squared = torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist") ** 2
    return torch.round(squared, decimals=8).to(x_train.dtype)


# %% none_comprehension
# A comprehension over the training points.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {values: ok, no_loops: loop_found, memory: ok}}

def compute_distances_no_loops(x_train, x_test):
    return torch.stack([((x_test - x) ** 2).flatten(1).sum(1) for x in x_train])


# %% none_factor_forgotten
# The factor 2 is missing.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, points: 3.3, checks: {values: wrong_value}}

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a**2).sum(1)[:, None] + (b**2).sum(1) - a @ b.T


# %% none_float64
# float64 whatever came in.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {values: ok, images: ok, dtype: wrong_dtype}}

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1).double(), x_test.flatten(1).double()
    return (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T


# %% none_half
# Half precision inside, right for small whole numbers.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {values: ok, images: wrong_value}}

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1).half().float(), x_test.flatten(1).half().float()
    squared = (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T
    return squared.to(x_train.dtype)


# %% none_overwrites
# Squares the caller's points in place, once the product is done.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {values: ok, unmodified: input_modified}}

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    dists = -2 * a @ b.T
    dists += a.square_().sum(1, keepdim=True)
    dists += b.square_().sum(1)
    return dists


# %% none_rooted
# The root of each distance.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, points: 3.3}

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return ((a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T).clamp(min=0).sqrt()


# %% none_norm
# Squares of norms, which are not allowed; that there is no loop is the student's own doing.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {values: ok, no_loops: ok, memory: ok, no_shortcut: ok, no_norm: forbidden_call}}

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return a.norm(dim=1)[:, None] ** 2 + b.norm(dim=1) ** 2 - 2 * a @ b.T


# %% none_rooted_cdist
# cdist as it is: the shortcut is told beside the root.
# expect:
#   mistakes: [none_rooted]
#   questions:
#     compute_distances_no_loops: {status: partial, points: 1.65, checks: {values: wrong_value, no_shortcut: forbidden_call}}

def compute_distances_no_loops(x_train, x_test):
    return torch.cdist(x_train.flatten(1), x_test.flatten(1))


# %% none_squares_broadcast_wrongly
# The squares of the training points along the columns: works where the numbers of points agree.
# expect:
#   questions:
#     compute_distances_no_loops: {status: failed, code: raised}

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a**2).sum(1) + (b**2).sum(1)[:, None] - 2 * a @ b.T


# %% none_wrong_sign
# Adds the product instead of subtracting it.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, points: 3.3, checks: {values: wrong_value}}

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a**2).sum(1)[:, None] + (b**2).sum(1) + 2 * a @ b.T


# %% none_linear
# The product by torch.nn.functional.linear: whatever torch.nn has is not allowed.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {values: ok, no_loops: requirement_not_met, no_shortcut: forbidden_call}}

from torch.nn.functional import linear as product


def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a * a).sum(1, keepdim=True) + (b * b).sum(1) - 2 * product(a, b)


# %% none_by_sizes
# A loop over the training points inside a loop over the first size alone.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {values: ok, no_loops: loop_found}}

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    dists = a.new_zeros(a.shape[0], b.shape[0])
    for s in a.shape[:1]:
        for i in range(s):
            dists[i] = ((a[i] - b) ** 2).sum(dim=1)
    return dists


# %% none_by_recursion_over_rows
# A function that calls itself with the rest of the rows, as others do with the rest of the sizes.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {values: ok, no_loops: loop_found}}

def rows(a, b):
    first = ((a[:1] - b) ** 2).sum(dim=1)[None]
    return first if len(a) == 1 else torch.cat([first, rows(a[1:], b)])


def compute_distances_no_loops(x_train, x_test):
    return rows(x_train.flatten(1), x_test.flatten(1))
