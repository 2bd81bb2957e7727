# Whole numbers for labels become floats.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {order: ok, dtype: wrong_dtype}}

import torch
from torch.utils.data import DataLoader, TensorDataset


def make_loader(X, y, batch_size, shuffle):
    return DataLoader(TensorDataset(X, y.double()), batch_size=batch_size, shuffle=shuffle)
