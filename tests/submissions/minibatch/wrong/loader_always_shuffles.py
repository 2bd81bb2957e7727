# Shuffles whether or not it is asked to.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {order: wrong_value, sizes: ok}}

import torch
from torch.utils.data import DataLoader, TensorDataset


def make_loader(X, y, batch_size, shuffle):
    return DataLoader(TensorDataset(X, y), batch_size=batch_size, shuffle=True)
