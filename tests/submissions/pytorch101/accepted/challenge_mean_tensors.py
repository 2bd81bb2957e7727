# Right ways to write challenge_mean_tensors. docs/authoring.md explains the cells.

import torch


# %% means_otherwise
# Means by padding: N × K numbers are not too many.
# expect:
#   questions:
#     challenge_mean_tensors: {status: passed}
#     "*": {status: passed}

from torch.nn.utils.rnn import pad_sequence


def challenge_mean_tensors(xs, ls):
    return pad_sequence(xs, batch_first=True).sum(1) / ls


# %% means_running_sum
# Takes differences of a float32 sum that runs through all tensors: allowed, and told what it loses.
# expect:
#   questions:
#     challenge_mean_tensors: {status: passed, checks: {means: ok, to_rounding: ok, no_blur: wrong_value}}
#     "*": {status: passed}

def challenge_mean_tensors(xs, ls):
    c = torch.cat((torch.zeros(1), torch.cat(xs).cumsum(0)))
    e = ls.cumsum(0)
    return (c[e] - c[e - ls]) / ls
