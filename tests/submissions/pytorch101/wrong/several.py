# Wrong ways to write several functions. docs/authoring.md explains the cells.
# right: batched_matrix_multiply_noloop, normalize_columns, mm_on_gpu

import torch


# %% stub_none
# Stubs left as they are in other editions: a result set to None.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: failed, code: not_implemented}
#     normalize_columns: {status: failed, code: not_implemented}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = None
    # Replace "pass" with your code
    pass
    return z


def normalize_columns(x):
    y = None
    return y


# %% stub_raises
# Stubs as the starter has them.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: failed, code: not_implemented}
#     batched_matrix_multiply_noloop: {status: failed, code: not_implemented}
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    raise NotImplementedError("batched_matrix_multiply_loop is not written yet")


def batched_matrix_multiply_noloop(x, y):
    raise NotImplementedError
