# Sums the lengths up in place, in the caller's tensor.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, large: ok, unmodified: input_modified}}

import torch


def challenge_mean_tensors(xs, ls):
    padded = torch.nn.utils.rnn.pad_sequence(xs, batch_first=True)
    means = padded.sum(dim=1) / ls
    ls.cumsum_(0)
    return means
