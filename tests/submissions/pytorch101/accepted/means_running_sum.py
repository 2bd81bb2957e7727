# Takes differences of a float32 sum that runs through all tensors: allowed, and told what it loses.
# expect:
#   questions:
#     challenge_mean_tensors: {status: passed, checks: {means: ok, to_rounding: ok, no_blur: wrong_value}}
#     "*": {status: passed}

import torch


def challenge_mean_tensors(xs, ls):
    c = torch.cat((torch.zeros(1), torch.cat(xs).cumsum(0)))
    e = ls.cumsum(0)
    return (c[e] - c[e - ls]) / ls
