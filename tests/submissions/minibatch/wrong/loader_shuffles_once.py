# The rows are shuffled once, and then come in the same order in each epoch.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {order: ok, every_row: ok, reshuffled: wrong_value}}

import torch
from torch.utils.data import DataLoader, TensorDataset


def make_loader(X, y, batch_size, shuffle):
    if shuffle:
        order = torch.randperm(len(X))
        X, y = X[order], y[order]
    return DataLoader(TensorDataset(X, y), batch_size=batch_size)
