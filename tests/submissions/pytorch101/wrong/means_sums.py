# Sums, never divided.
# expect:
#   questions:
#     challenge_mean_tensors: {status: failed, checks: {means: wrong_value}}

import torch


def challenge_mean_tensors(xs, ls):
    return torch.nn.utils.rnn.pad_sequence(xs, batch_first=True).sum(dim=1)
