# A generator that is driven by send().
# expect: loop_found

import torch


def multiplier():
    pair = yield
    while pair is not None:
        pair = yield pair[0] @ pair[1]


def batched_matrix_multiply_noloop(x, y):
    run = multiplier()
    run.send(None)
    return torch.stack(list(map(run.send, zip(x, y))))
