# The rows left over are dropped.
# expect:
#   questions:
#     make_loader: {status: failed, checks: {order: wrong_type, sizes: wrong_type, every_row: wrong_value}}

import torch
from torch.utils.data import DataLoader, TensorDataset


def make_loader(X, y, batch_size, shuffle):
    return DataLoader(TensorDataset(X, y), batch_size=batch_size, shuffle=shuffle, drop_last=True)
