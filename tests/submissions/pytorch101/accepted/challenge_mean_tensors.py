# Right ways to write challenge_mean_tensors. docs/authoring.md explains the cells.

import torch


# %% means_otherwise
# Means by padding: N × K numbers are not too many.
# expect:
#   questions:
#     challenge_mean_tensors: {status: passed}
#     "*": {status: passed}

from torch.nn.utils.rnn import pad_sequence


def challenge_mean_tensors(xs, ls):
    return pad_sequence(xs, batch_first=True).sum(1) / ls
