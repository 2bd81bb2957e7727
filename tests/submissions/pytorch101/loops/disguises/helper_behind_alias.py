# The loop is in a helper that is called by another name.
# expect: loop_found

import torch


def _one_by_one(x, y):
    return [a @ b for a, b in zip(x, y)]


multiply = _one_by_one
tools = {"multiply": multiply}


def batched_matrix_multiply_noloop(x, y):
    return torch.stack(tools["multiply"](x, y))
