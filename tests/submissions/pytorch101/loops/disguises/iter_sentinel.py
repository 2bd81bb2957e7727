# iter() with a function and a sentinel.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    pairs = zip(x, y)

    def step():
        pair = next(pairs, None)
        return None if pair is None else pair[0] @ pair[1]

    return torch.stack(list(iter(step, None)))
