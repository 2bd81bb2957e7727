# Wrong ways to write batched_matrix_multiply_noloop. docs/authoring.md explains the cells.
# right: batched_matrix_multiply_loop, normalize_columns, mm_on_gpu

import torch


# %% noloop_always_float32
# Computes and returns float32, whatever comes in.
# expect:
#   mistakes: [noloop_loses_float64]
#   questions:
#     batched_matrix_multiply_noloop: {status: partial, checks: {product: ok, float64: wrong_value, dtype: wrong_dtype}}
#     "*": {status: passed}

def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x.float(), y.float())


# %% noloop_always_float64
# Returns float64, whatever comes in.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: partial, checks: {product: ok, float64: ok, dtype: wrong_dtype}}
#     "*": {status: passed}

def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x.double(), y.double())


# %% noloop_calls_the_loop
# The loop is in the other function.
# right: none
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: partial, checks: {product: ok, no_loops: loop_found}}

def batched_matrix_multiply_loop(x, y):
    return torch.stack([a @ b for a, b in zip(x, y)])


def batched_matrix_multiply_noloop(x, y):
    return batched_matrix_multiply_loop(x, y)


# %% noloop_comprehension
# A comprehension where no loop is allowed.
# right: none
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: partial, checks: {product: ok, no_loops: loop_found}}

def batched_matrix_multiply_noloop(x, y):
    return torch.stack([a @ b for a, b in zip(x, y)])


# %% noloop_drops_term
# Leaves the last term out of every sum.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: failed, code: wrong_value}
#     "*": {status: passed}

def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x[:, :, :-1], y[:, :-1, :])


# %% noloop_elementwise
# An elementwise product where a matrix product is asked for.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: failed, checks: {product: wrong_shape, float32: raised}}
#     "*": {status: passed}

def batched_matrix_multiply_noloop(x, y):
    return x * y


# %% noloop_half
# Half precision inside.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: partial, checks: {product: ok, float32: wrong_value, float64: wrong_value}}
#     "*": {status: passed}

def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x.half(), y.half()).to(x.dtype)


# %% noloop_loop
# A loop where none is allowed.
# right: none
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: partial, checks: {product: ok, dtype: ok, no_loops: loop_found}}

def batched_matrix_multiply_noloop(x, y):
    z = x.new_zeros(x.shape[0], x.shape[1], y.shape[2])
    for i in range(x.shape[0]):
        z[i] = x[i] @ y[i]
    return z


# %% noloop_modifies
# Right values, but the first input is changed.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: partial, checks: {product: ok, unmodified: input_modified}}
#     "*": {status: passed}

def batched_matrix_multiply_noloop(x, y):
    z = torch.bmm(x, y)
    x.zero_()
    return z


# %% noloop_outlier
# Right but for one element.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: partial, code: wrong_value}
#     "*": {status: passed}

def batched_matrix_multiply_noloop(x, y):
    z = torch.bmm(x, y)
    z[-1, -1, -1] += 0.5
    return z


# %% noloop_reversed
# Pairs each matrix with one from the other end of the batch.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: partial, code: wrong_value}
#     "*": {status: passed}

def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y.flip(0))


# %% noloop_squeezes
# Squeezes its result, which drops N where N is 1.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: partial, checks: {product: ok, shape: wrong_shape}}
#     "*": {status: passed}

def batched_matrix_multiply_noloop(x, y):
    return torch.einsum("bnm,bmp->bnp", x, y).squeeze(1)


# %% noloop_transposed
# Gives the transposed products.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: partial, code: wrong_shape, points: 2.7}
#     "*": {status: passed}

def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y).transpose(1, 2)


# %% noloop_uses_mm
# torch.mm does not take batches.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: partial, code: raised}
#     "*": {status: passed}

def batched_matrix_multiply_noloop(x, y):
    return torch.mm(x, y)


# %% stub_zeros
# A stub that returns zeros of the right shape.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: failed, code: wrong_value}
#     "*": {status: passed}

def batched_matrix_multiply_noloop(x, y):
    z = torch.zeros(x.shape[0], x.shape[1], y.shape[2], dtype=x.dtype)
    # still to be written
    return z


# %% too_few_parameters
# Takes one parameter where two are given.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: failed, code: raised}
#     "*": {status: passed}

def batched_matrix_multiply_noloop(x):
    return torch.bmm(x, x)


# %% too_many_parameters
# Takes three parameters where two are given.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: failed, code: raised}
#     "*": {status: passed}

def batched_matrix_multiply_noloop(x, y, z):
    return torch.bmm(x, y)


# %% works_on_second_call
# Fails on its first call only: state between calls.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: partial, checks: {product: raised, float32: ok}}
#     "*": {status: passed}

_calls = 0


def batched_matrix_multiply_noloop(x, y):
    global _calls
    _calls += 1
    if _calls == 1:
        raise RuntimeError("not warm yet")
    return torch.bmm(x, y)


# %% noloop_in_bfloat16
# bfloat16 inside: whole numbers beyond 256 do not survive it.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: partial, checks: {product: wrong_value, float32: wrong_value, float64: wrong_value}}

def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x.bfloat16(), y.bfloat16()).to(x.dtype)
