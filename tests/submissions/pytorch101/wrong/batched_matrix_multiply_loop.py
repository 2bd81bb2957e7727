# Wrong ways to write batched_matrix_multiply_loop. docs/authoring.md explains the cells.
# right: batched_matrix_multiply_noloop, normalize_columns, mm_on_gpu

import torch


# %% loop_half
# Half precision inside the loop: whole numbers survive it, other numbers do not.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: partial, checks: {product: ok, float32: wrong_value, float64: wrong_value}}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    return torch.stack([a.half().mm(b.half()).to(a.dtype) for a, b in zip(x, y)])


# %% loop_keeps_last
# Each turn overwrites the one before: only the last product comes back.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: partial, code: wrong_shape, points: 2}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    for i in range(x.shape[0]):
        z = x[i].mm(y[i])
    return z


# %% loop_knows_two
# Written for the example: exactly two matrices.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: failed, code: wrong_shape}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    first = x[0].mm(y[0])
    second = x[-1].mm(y[-1])
    return torch.stack([first, second])


# %% loop_loses_float64
# torch.zeros is float32, so float64 digits are lost on the way.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: partial, checks: {product: ok, float64: wrong_value, dtype: wrong_dtype}}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = torch.zeros(x.shape[0], x.shape[1], y.shape[2])
    for i in range(x.shape[0]):
        z[i] = x[i].mm(y[i])
    return z


# %% loop_matmul
# torch.matmul on the whole batch where a loop was asked for.
# right: none
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: partial, checks: {product: ok, loop: loop_missing}}

def batched_matrix_multiply_loop(x, y):
    return torch.matmul(x, y)


# %% loop_modifies
# Right values, but the second input is doubled in place and left so.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: partial, checks: {product: ok, unmodified: input_modified}}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    products = [x[i].mm(y[i]) for i in range(x.shape[0])]
    for i in range(x.shape[0]):
        y[i] *= 2
    return torch.stack(products)


# %% loop_of_small_batches
# Loops over batches of one, multiplied by a batched product.
# right: none
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: partial, checks: {product: ok, loop: ok, no_batched_product: forbidden_call}}

def batched_matrix_multiply_loop(x, y):
    return torch.cat([torch.bmm(x[i : i + 1], y[i : i + 1]) for i in range(x.shape[0])])


# %% loop_returns_list
# The products in a Python list instead of a tensor.
# expect:
#   mistakes: [loop_in_a_list]
#   questions:
#     batched_matrix_multiply_loop: {status: partial, code: wrong_type}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    return [x[i].mm(y[i]) for i in range(x.shape[0])]


# %% loop_returns_numpy
# A numpy array instead of a tensor.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: partial, code: wrong_type}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    return torch.stack([a.mm(b) for a, b in zip(x, y)]).numpy()


# %% loop_returns_tuple
# The right tensor, but inside a tuple.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: failed, code: wrong_type}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = torch.stack([a.mm(b) for a, b in zip(x, y)])
    return z, z.shape


# %% loop_single_call
# torch.bmm where a loop was asked for.
# right: none
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: partial, checks: {product: ok, loop: loop_missing, no_batched_product: forbidden_call}}

def batched_matrix_multiply_loop(x, y):
    return torch.bmm(x, y)


# %% loop_squeezes
# Squeezes its result, which drops N where N is 1.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: partial, checks: {product: ok, shape: wrong_shape}}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    return torch.stack([x[i].mm(y[i]).squeeze(0) for i in range(x.shape[0])])


# %% loop_stops_early
# The loop leaves out the last pair; its place stays zero.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: partial, code: wrong_value}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = torch.zeros(x.shape[0], x.shape[1], y.shape[2], dtype=x.dtype)
    for i in range(x.shape[0] - 1):
        z[i] = x[i] @ y[i]
    return z


# %% loop_copies_rows
# One product of whole batches, and a loop that copies its rows.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: deferred, checks: {product: ok, loop: needs_review}}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = x @ y
    out = torch.empty_like(z)
    for i in range(len(x)):
        out[i] = z[i]
    return out


# %% loop_times_one
# One product of whole batches, and a loop that multiplies its rows by 1.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: deferred, checks: {product: ok, loop: needs_review}}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = x @ y
    out = torch.empty_like(z)
    for i in range(len(x)):
        out[i] = z[i] * 1
    return out


# %% loop_of_decoys
# Multiplies in each turn, drops that, and copies from one product of whole batches.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: deferred, checks: {product: ok, loop: needs_review}}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = x @ y
    out = torch.empty_like(z)
    for i in range(len(x)):
        x[i] @ y[i]
        out[i] = z[i]
    return out


# %% loop_of_numbers
# The same; what is dropped was made a number first.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: deferred, checks: {product: ok, loop: needs_review}}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = x @ y
    out = torch.empty_like(z)
    for i in range(len(x)):
        (x[i] @ y[i]).sum().item()
        out[i] = z[i]
    return out


# %% loop_all_in_first_turn
# All products in the first turn.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: deferred, checks: {product: ok, loop: needs_review}}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = None
    rows = []
    for i in range(len(x)):
        if z is None:
            z = torch.einsum('bnm,bmp->bnp', x, y)
        rows.append(z[i])
    return torch.stack(rows)


# %% loop_over_what_is_summed
# Adds up outer products of whole batches, one for each entry that is summed.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: deferred, checks: {product: ok, loop: needs_review}}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = x.new_zeros(len(x), x.shape[1], y.shape[2])
    for k in range(x.shape[2]):
        z += x[:, :, k:k+1] * y[:, k:k+1]
    return z


# %% loop_around_numpy
# One product of NumPy's, and a loop that copies its rows.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: deferred, checks: {product: ok, loop: needs_review}}
#     "*": {status: passed}

import numpy as np


def batched_matrix_multiply_loop(x, y):
    z = np.matmul(x.numpy(), y.numpy())
    out = torch.empty(len(x), x.shape[1], y.shape[2], dtype=x.dtype)
    for i in range(len(x)):
        out[i] = torch.from_numpy(z[i])
    return out


# %% loop_in_bfloat16
# bfloat16 inside the loop: whole numbers beyond 256 do not survive it.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: partial, checks: {product: wrong_value, float32: wrong_value, float64: wrong_value}}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    return torch.stack([a.bfloat16().mm(b.bfloat16()).to(a.dtype) for a, b in zip(x, y)])


# %% loop_adds_nought_to_all
# One product of whole batches; each turn adds 0 to all of it.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: deferred, checks: {product: ok, loop: needs_review}}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = x @ y
    for i in range(len(x)):
        z = z + 0 * x[i].sum()
    return z


# %% loop_times_nought
# One product of whole batches; each turn multiplies, too, and takes that times 0.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: deferred, checks: {product: ok, loop: needs_review}}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = x @ y
    out = torch.empty_like(z)
    for i in range(len(x)):
        out[i] = z[i] + 0 * (x[i] @ y[i])
    return out
