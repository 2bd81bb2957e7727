# One tensor a turn.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, large: ok, no_loops: loop_found}}

import torch


def challenge_mean_tensors(xs, ls):
    means = torch.zeros(len(xs))
    for i in range(len(xs)):
        means[i] = xs[i].mean()
    return means
