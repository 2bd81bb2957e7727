# One row for each mean.
# expect:
#   questions:
#     challenge_mean_tensors: {status: failed, checks: {means: wrong_shape}}

import torch


def challenge_mean_tensors(xs, ls):
    padded = torch.nn.utils.rnn.pad_sequence(xs, batch_first=True)
    return padded.sum(dim=1, keepdim=True) / ls[:, None]
