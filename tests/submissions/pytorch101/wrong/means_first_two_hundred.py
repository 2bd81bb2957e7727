# Room for 256 tensors is room enough, until there are more.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, large: wrong_shape}}

import torch


def challenge_mean_tensors(xs, ls):
    xs, ls = xs[:256], ls[:256]
    return torch.nn.utils.rnn.pad_sequence(xs, batch_first=True).sum(dim=1) / ls
