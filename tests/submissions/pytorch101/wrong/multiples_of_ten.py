# Wrong ways to write multiples_of_ten. docs/authoring.md explains the cells.

import torch


# %% multiples_column
# A column, as torch.nonzero returns it.
# expect:
#   questions:
#     multiples_of_ten: {status: failed, checks: {values: wrong_shape, ends: wrong_shape}}

def multiples_of_ten(start, stop):
    return ((torch.arange(start, stop + 1) % 10 == 0).nonzero() + start).double()


# %% multiples_descending
# The greatest comes first.
# expect:
#   questions:
#     multiples_of_ten: {status: failed, checks: {values: wrong_value, ends: wrong_value}}

def multiples_of_ten(start, stop):
    x = torch.arange(stop, start - 1, -1, dtype=torch.float64)
    return x[x % 10 == 0]


# %% multiples_exclusive_start
# Leaves out a start that is a multiple of ten.
# expect:
#   questions:
#     multiples_of_ten: {status: partial, checks: {values: ok, ends: wrong_shape, none: ok, dtype: ok}}

def multiples_of_ten(start, stop):
    x = torch.arange(start + 1, stop + 1, dtype=torch.float64)
    return x[x % 10 == 0]


# %% multiples_exclusive_stop
# torch.arange leaves its end out, and here the end belongs to the range.
# expect:
#   questions:
#     multiples_of_ten: {status: partial, points: 2.5, checks: {values: ok, ends: wrong_shape, none: ok, dtype: ok}}

def multiples_of_ten(start, stop):
    x = torch.arange(start, stop, dtype=torch.float64)
    return x[x % 10 == 0]


# %% multiples_float32
# float32 instead of float64.
# expect:
#   questions:
#     multiples_of_ten: {status: partial, checks: {values: ok, ends: ok, none: ok, dtype: wrong_dtype}}

def multiples_of_ten(start, stop):
    return torch.tensor([float(n) for n in range(start, stop + 1) if n % 10 == 0])


# %% multiples_from_below
# Begins with the multiple of ten below the start.
# expect:
#   questions:
#     multiples_of_ten: {status: partial, points: 2, checks: {values: wrong_shape, ends: ok}}

def multiples_of_ten(start, stop):
    return torch.arange(start // 10 * 10, stop + 1, 10, dtype=torch.float64)


# %% multiples_none_has_a_row
# Without a multiple of ten, one row of nothing instead of nothing.
# expect:
#   questions:
#     multiples_of_ten: {status: partial, checks: {values: ok, ends: ok, none: wrong_shape}}

def multiples_of_ten(start, stop):
    x = [n for n in range(start, stop + 1) if n % 10 == 0]
    if not x:
        return torch.empty(1, 0, dtype=torch.float64)
    return torch.tensor(x, dtype=torch.float64)


# %% multiples_none_raises
# An empty range makes torch.arange complain; here nobody looks whether it is empty.
# expect:
#   questions:
#     multiples_of_ten: {status: partial, checks: {values: ok, ends: ok, none: raised}}

def multiples_of_ten(start, stop):
    first = (start + 9) // 10 * 10
    last = stop // 10 * 10
    return torch.arange(first, last + 1, 10, dtype=torch.float64)


# %% multiples_whole_numbers
# int64, which torch.arange makes of whole numbers.
# expect:
#   questions:
#     multiples_of_ten: {status: partial, checks: {values: ok, ends: ok, none: ok, dtype: wrong_dtype}}

def multiples_of_ten(start, stop):
    x = torch.arange(start, stop + 1)
    return x[x % 10 == 0]


# %% multiples_in_bfloat16
# bfloat16 on the way: beyond 512 it holds every fourth number.
# expect:
#   questions:
#     multiples_of_ten: {status: partial, checks: {values: wrong_value, ends: wrong_value}}

def multiples_of_ten(start, stop):
    numbers = torch.arange(start, stop + 1)
    return numbers[numbers % 10 == 0].bfloat16().double()
