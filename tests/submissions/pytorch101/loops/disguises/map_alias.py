# map under another name.
# expect: needs_review
# timed: loop_found

import torch


each = map


def batched_matrix_multiply_noloop(x, y):
    return torch.stack(list(each(torch.mm, x, y)))
