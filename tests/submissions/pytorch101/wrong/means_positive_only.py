# Drops what is not above zero.
# expect:
#   questions:
#     challenge_mean_tensors: {status: failed, checks: {means: wrong_value}}

import torch


def challenge_mean_tensors(xs, ls):
    padded = torch.nn.utils.rnn.pad_sequence(xs, batch_first=True)
    return padded.clamp(min=0).sum(dim=1) / ls
