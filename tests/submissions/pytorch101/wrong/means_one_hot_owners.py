# The owners as one-hot rows: the same mask by another name.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, memory: too_much_memory}}

import torch
import torch.nn.functional as F


def challenge_mean_tensors(xs, ls):
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    return F.one_hot(owner).float().t() @ torch.cat(xs) / ls
