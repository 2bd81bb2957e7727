# Returns float64.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, dtype: wrong_dtype}}

import torch


def challenge_mean_tensors(xs, ls):
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    sums = torch.zeros(len(xs), dtype=torch.float64).index_add(0, owner, torch.cat(xs).double())
    return sums / ls
