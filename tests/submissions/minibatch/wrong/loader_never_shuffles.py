# Leaves shuffle at DataLoader's default, which is False.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {order: ok, reshuffled: wrong_value}}

import torch
from torch.utils.data import DataLoader, TensorDataset


def make_loader(X, y, batch_size, shuffle):
    return DataLoader(TensorDataset(X, y), batch_size=batch_size)
