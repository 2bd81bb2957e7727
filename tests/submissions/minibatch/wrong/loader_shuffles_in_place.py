# Shuffles the caller's tensors.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {order: ok, unmodified: input_modified, reshuffled: wrong_value}}

import torch
from torch.utils.data import DataLoader, TensorDataset


def make_loader(X, y, batch_size, shuffle):
    if shuffle:
        order = torch.randperm(len(X))
        X[:] = X[order]
        y[:] = y[order]
    return DataLoader(TensorDataset(X, y), batch_size=batch_size)
