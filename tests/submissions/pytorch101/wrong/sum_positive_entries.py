# Wrong ways to write sum_positive_entries. docs/authoring.md explains the cells.

import torch


# %% sum_counts
# Counts the positive entries.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, points: 0.75, checks: {sum: wrong_value}}

def sum_positive_entries(x):
    return (x > 0).sum().item()


# %% sum_everything
# Sums the negative ones too.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, points: 0.6, checks: {sum: wrong_value}}

def sum_positive_entries(x):
    return x.sum().item()


# %% sum_float
# The right number as a float.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, checks: {sum: ok, none: ok, type: wrong_type, unmodified: ok}}

def sum_positive_entries(x):
    return float(x[x > 0].sum())


# %% sum_generator
# A generator is a loop too.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, checks: {sum: ok, none: ok, no_loops: loop_found}}

def sum_positive_entries(x):
    return sum(n for n in x.flatten().tolist() if n > 0)


# %% sum_loop
# Entry by entry.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, checks: {sum: ok, none: ok, no_loops: loop_found}}

def sum_positive_entries(x):
    total = 0
    for number in x.flatten():
        if number > 0:
            total += number.item()
    return total


# %% sum_overwrites
# Sets the negative numbers of the caller's tensor to zero.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, checks: {sum: ok, none: ok, unmodified: input_modified}}

def sum_positive_entries(x):
    x[x < 0] = 0
    return x.sum().item()


# %% sum_tensor
# A tensor of rank 0 instead of an int: that costs the type's points alone.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, checks: {sum: ok, none: ok, large_numbers: ok, type: wrong_type, unmodified: ok, no_loops: ok}}

def sum_positive_entries(x):
    return x[x > 0].sum()


# %% sum_through_float32
# Adds up in float32, which holds no whole numbers above 2**24.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, checks: {sum: ok, large_numbers: wrong_value, type: ok}}

def sum_positive_entries(x):
    return int(x[x > 0].float().sum().item())


# %% sum_through_int32
# Adds up in int32, where large numbers wrap round.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, checks: {sum: ok, large_numbers: wrong_value}}

def sum_positive_entries(x):
    return x[x > 0].int().sum(dtype=torch.int32).item()


# %% sum_without_positive
# Where nothing is positive, the greatest number instead of 0.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, checks: {sum: ok, none: wrong_value}}

def sum_positive_entries(x):
    mask = x > 0
    return x[mask].sum().item() or x.max().item() - 1


# %% sum_numpy_number
# A number of NumPy's instead of an int: that costs the type's points alone.
# expect:
#   questions:
#     sum_positive_entries: {status: deferred, checks: {sum: ok, none: ok, large_numbers: ok, type: wrong_type, unmodified: ok, no_loops: needs_review}}

def sum_positive_entries(x):
    numbers = x.numpy()
    return numbers[numbers > 0].sum()


# %% sum_by_sizes
# Loops over the entries inside a loop over the sizes.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, checks: {sum: ok, no_loops: loop_found}}

def sum_positive_entries(x):
    total, flat = 0, x.flatten()
    for n in flat.shape:
        for i in range(n):
            total += max(flat[i].item(), 0)
    return int(total)
