# eval of a comprehension.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    return torch.stack(eval("[a " + "@ b f" + "or a, b in zip(x, y)]", {"x": x, "y": y, "zip": zip}))
