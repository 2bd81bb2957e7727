# Turns line tracing off before it loops.
# expect: needs_review
# timed: loop_found

import sys

import torch


def batched_matrix_multiply_noloop(x, y):
    trace = sys.gettrace()
    sys.settrace(None)
    products = [a @ b for a, b in zip(x, y)]
    sys.settrace(trace)
    return torch.stack(products)
