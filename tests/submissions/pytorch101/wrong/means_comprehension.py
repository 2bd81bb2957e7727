# One tensor a turn, in a comprehension.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, large: ok, no_loops: loop_found}}

import torch


def challenge_mean_tensors(xs, ls):
    return torch.stack([x.sum() for x in xs]) / ls
