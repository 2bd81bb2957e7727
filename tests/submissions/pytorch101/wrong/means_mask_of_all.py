# A mask of N × all numbers: too much memory for 10,000 tensors.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, to_rounding: ok, memory: too_much_memory}}

import torch


def challenge_mean_tensors(xs, ls):
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    mask = (torch.arange(len(xs))[:, None] == owner).float()
    return mask @ torch.cat(xs) / ls
