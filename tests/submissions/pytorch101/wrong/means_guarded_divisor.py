# Adds a little to each length, against a division by zero that cannot be.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, to_rounding: wrong_value}}

import torch


def challenge_mean_tensors(xs, ls):
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    return torch.zeros(len(xs)).index_add(0, owner, torch.cat(xs)) / (ls + 1e-4)
