# Recursion without a name.
# expect: needs_review
# timed: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    step = lambda self, i, done: done if i == len(x) else self(self, i + 1, done + [x[i] @ y[i]])
    return torch.stack(step(step, 0, []))
