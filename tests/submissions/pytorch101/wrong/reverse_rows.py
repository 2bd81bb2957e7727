# Wrong ways to write reverse_rows. docs/authoring.md explains the cells.

import torch


# %% reverse_columns
# Columns reversed instead of rows.
# expect:
#   questions:
#     reverse_rows: {status: partial, points: 0.8, checks: {values: wrong_value}}

def reverse_rows(x):
    return x[:, list(range(x.shape[1] - 1, -1, -1))]


# %% reverse_flip
# torch.flip, which is not allowed.
# expect:
#   questions:
#     reverse_rows: {status: partial, checks: {values: ok, no_flip: forbidden_call}}

def reverse_rows(x):
    return torch.flip(x, [0])


# %% reverse_flip_method
# The same as a method.
# expect:
#   questions:
#     reverse_rows: {status: partial, checks: {values: ok, no_flip: forbidden_call}}

def reverse_rows(x):
    return x.flip(0)


# %% reverse_floats
# float64 whatever came in.
# expect:
#   questions:
#     reverse_rows: {status: partial, checks: {values: ok, dtype: wrong_dtype}}

def reverse_rows(x):
    return x[list(range(x.shape[0] - 1, -1, -1))].double()


# %% reverse_in_place
# Reverses the caller's tensor too.
# expect:
#   questions:
#     reverse_rows: {status: partial, checks: {values: ok, dtype: ok, unmodified: input_modified}}

def reverse_rows(x):
    x[:] = x[torch.arange(x.shape[0] - 1, -1, -1)]
    return x


# %% reverse_knows_four
# The rows of the example, by number.
# expect:
#   questions:
#     reverse_rows: {status: failed, checks: {values: wrong_shape}}

def reverse_rows(x):
    return x[[3, 2, 1, 0]]


# %% reverse_misses_a_row
# Stops before row 0.
# expect:
#   questions:
#     reverse_rows: {status: partial, points: 1.2, checks: {values: wrong_shape}}

def reverse_rows(x):
    return x[list(range(x.shape[0] - 1, 0, -1))]


# %% reverse_row_by_row
# One index for each row.
# expect:
#   questions:
#     reverse_rows: {status: partial, checks: {values: ok, one_index: too_many_calls}}

def reverse_rows(x):
    return torch.stack([x[i] for i in range(x.shape[0] - 1, -1, -1)])

# %% reverse_float32_buffer
# A buffer of torch.zeros, which is float32 whatever comes: that costs the dtype's points alone.
# expect:
#   questions:
#     reverse_rows: {status: partial, checks: {values: ok, dtype: wrong_dtype, unmodified: ok, one_index: ok, no_flip: ok}}

def reverse_rows(x):
    result = torch.zeros(x.shape)
    result.copy_(x[list(range(len(x) - 1, -1, -1))])
    return result


# %% reverse_of_a_copy
# A copy reversed by reversed(), which is a flip of the matrix, not of an index.
# expect:
#   questions:
#     reverse_rows: {status: partial, checks: {values: ok, one_index: too_few_calls, no_flip: forbidden_call}}

def reverse_rows(x):
    return reversed(x.clone())


# %% reverse_by_numpy
# A slice of NumPy's with a step of -1: no index of the tensor at all.
# expect:
#   questions:
#     reverse_rows: {status: deferred, checks: {values: ok, one_index: too_few_calls, no_flip: needs_review}}

def reverse_rows(x):
    return torch.from_numpy(x.numpy()[::-1].copy())


# %% reverse_by_a_negative_step
# As NumPy and lists have it.
# expect:
#   questions:
#     reverse_rows: {status: failed, code: raised, says: "A tensor takes no negative step"}

def reverse_rows(x):
    return x[::-1]


# %% reverse_by_pieces
# Cut into rows and put together the other way round.
# expect:
#   questions:
#     reverse_rows: {status: partial, checks: {values: ok, one_index: too_few_calls, no_flip: ok}}

def reverse_rows(x):
    return torch.cat(list(x.split(1))[::-1])


# %% reverse_beside_an_index
# One index of x, whose result is thrown away; it has no list or tensor in it either.
# expect:
#   questions:
#     reverse_rows: {status: deferred, checks: {values: ok, one_index: too_few_calls, no_flip: needs_review}}

def reverse_rows(x):
    x[0]
    return torch.from_numpy(x.numpy()[::-1].copy())


# %% reverse_beside_a_list
# Reads a row by a list and drops it: the result does not descend from that.
# expect:
#   questions:
#     reverse_rows: {status: deferred, checks: {values: ok, one_index: needs_review}}

def reverse_rows(x):
    x[[0]]
    return torch.stack(x.unbind()[::-1])
