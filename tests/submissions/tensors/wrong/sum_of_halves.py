# Wrong ways to write sum_of_halves. docs/authoring.md explains the cells.

import torch


# %% halves_double
# The sum in float64.
# expect:
#   questions:
#     sum_of_halves: {status: partial, checks: {small: ok, large: ok, dtype: wrong_dtype}}

def sum_of_halves(x):
    return x.double().sum()


# %% halves_item
# A Python number.
# expect:
#   mistakes: [halves_a_number]
#   questions:
#     sum_of_halves: {status: partial, checks: {small: ok, large: ok, dtype: wrong_type}}

def sum_of_halves(x):
    return x.float().sum().item()


# %% halves_mean
# The mean.
# expect:
#   questions:
#     sum_of_halves: {status: partial, checks: {small: wrong_value}}

def sum_of_halves(x):
    return x.float().mean()


# %% halves_overflow
# Adds up in half precision, and converts infinity.
# expect:
#   mistakes: [halves_converted_too_late]
#   questions:
#     sum_of_halves: {status: partial, checks: {small: ok, large: not_finite, dtype: ok}}

def sum_of_halves(x):
    return x.sum().float()


# %% halves_stay_halves
# The sum in half precision.
# expect:
#   questions:
#     sum_of_halves: {status: partial, checks: {small: ok, large: not_finite, dtype: wrong_dtype}}

def sum_of_halves(x):
    return x.sum()
