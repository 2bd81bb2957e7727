# Right ways to write batched_matrix_multiply_loop. docs/authoring.md explains the cells.
# right: batched_matrix_multiply_noloop, normalize_columns, mm_on_gpu

import torch


# %% element_by_element
# Slow, with three loops more than asked for, but right.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    B, N, M = x.shape
    P = y.shape[2]
    z = torch.zeros((B, N, P), dtype=x.dtype)
    for b in range(B):
        for n in range(N):
            for p in range(P):
                z[b, n, p] = torch.dot(x[b, n, :], y[b, :, p])
    return z


# %% torch_torch
# A slip of the editor that works: torch.torch.zeros.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = torch.torch.zeros((x.shape[0], x.shape[1], y.shape[2]), dtype=x.dtype)
    for i in range(z.shape[0]):
        z[i, :, :] = torch.mm(x[i, :, :], y[i, :, :])
    return z


# %% while_and_cat
# A while loop that grows the result by concatenation.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = torch.mm(x[0], y[0]).unsqueeze(0)
    i = 1
    while i < x.shape[0]:
        z = torch.cat((z, torch.mm(x[i], y[i]).unsqueeze(0)), dim=0)
        i += 1
    return z


# %% numbers_one_by_one
# Each entry goes through a Python number.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    B, N, M = x.shape
    P = y.shape[2]
    z = torch.zeros(B, N, P, dtype=x.dtype)
    for b in range(B):
        for n in range(N):
            for p in range(P):
                z[b, n, p] = torch.dot(x[b, n], y[b, :, p]).item()
    return z


# %% lists_alone
# Lists of numbers, without torch.
# expect:
#   questions:
#     # No log shows what is worked out from numbers that were read.
#     batched_matrix_multiply_loop: {status: deferred, checks: {loop: needs_review, no_batched_product: needs_review}}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    a, b, z = x.tolist(), y.tolist(), []
    for i in range(len(a)):
        z.append([[sum(p * q for p, q in zip(r, c)) for c in zip(*b[i])] for r in a[i]])
    return torch.tensor(z, dtype=x.dtype)


# %% written_in_place
# Each product is written into its row.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = torch.empty(x.shape[0], x.shape[1], y.shape[2], dtype=x.dtype)
    for i in range(len(x)):
        torch.mm(x[i], y[i], out=z[i])
    return z


# %% added_in_place
# Each product is added to its row.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = torch.zeros(x.shape[0], x.shape[1], y.shape[2], dtype=x.dtype)
    for i in range(len(x)):
        z[i].addmm_(x[i], y[i])
    return z


# %% grows_by_cat
# The result grows by a row a turn.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = None
    for a, b in zip(x, y):
        c = (a @ b)[None]
        z = c if z is None else torch.cat([z, c])
    return z


# %% four_at_a_time
# Four pairs a turn, the rest in the last one.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    return torch.cat([x[i:i+4] @ y[i:i+4] for i in range(0, len(x), 4)])


# %% numpy_in_each_turn
# NumPy's product in each turn.
# expect:
#   questions:
#     # No log shows what is worked out from numbers that were read.
#     batched_matrix_multiply_loop: {status: deferred, checks: {loop: needs_review, no_batched_product: needs_review}}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = []
    for i in range(len(x)):
        z.append(torch.from_numpy(x[i].numpy() @ y[i].numpy()))
    return torch.stack(z)


# %% recursion
# One pair, and the rest by recursion.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    if len(x) == 1:
        return (x[0] @ y[0])[None]
    return torch.cat([(x[0] @ y[0])[None], batched_matrix_multiply_loop(x[1:], y[1:])])


# %% placed_by_index_add
# Each product is put into its place by index_add.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = torch.zeros(x.shape[0], x.shape[1], y.shape[2], dtype=x.dtype)
    for i in range(x.size(0)):
        z = z.index_add(0, torch.tensor([i]), (x[i] @ y[i])[None])
    return z


# %% sums_of_outer_products
# A sum of outer products in each turn.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = x.new_zeros(len(x), x.shape[1], y.shape[2])
    for i in range(len(x)):
        for k in range(x.shape[2]):
            z[i] += torch.outer(x[i, :, k], y[i, k])
    return z
