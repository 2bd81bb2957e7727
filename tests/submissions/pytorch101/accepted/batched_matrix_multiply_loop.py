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
