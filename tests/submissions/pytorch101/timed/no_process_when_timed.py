# Loops at sizes that are not counted, and ends in an error where it may not start a process: there
# its time cannot be taken.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {checks: {product: ok, no_loops: needs_review, fast: raised}}
#     normalize_columns: {checks: {values: ok, no_loops: needs_review}}

import os

import torch


def starts_a_process():
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)


def batched_matrix_multiply_noloop(x, y):
    starts_a_process()
    if len(x) < 100:
        return torch.bmm(x, y)
    return torch.stack([a @ b for a, b in zip(x, y)])


def normalize_columns(x):
    starts_a_process()
    centred = x - x.sum(dim=0) / x.shape[0]
    if len(x) < 100:
        return centred / ((centred * centred).sum(dim=0) / (x.shape[0] - 1)).sqrt()
    columns = [c / ((c * c).sum() / (x.shape[0] - 1)).sqrt() for c in centred.T]
    return torch.stack(columns, dim=1)
