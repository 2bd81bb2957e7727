# A generator has no length.
# expect:
#   questions:
#     make_loader: {status: failed, code: raised}

import torch
from torch.utils.data import DataLoader, TensorDataset


def make_loader(X, y, batch_size, shuffle):
    return ((X[i : i + batch_size], y[i : i + batch_size]) for i in range(0, len(X), batch_size))
