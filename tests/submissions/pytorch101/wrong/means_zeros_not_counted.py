# Takes zeros for padding.
# expect:
#   questions:
#     challenge_mean_tensors: {status: failed}

import torch


def challenge_mean_tensors(xs, ls):
    padded = torch.nn.utils.rnn.pad_sequence(xs, batch_first=True)
    return padded.sum(dim=1) / (padded != 0).sum(dim=1)
