# Rows are drawn with replacement: some twice in an epoch, some not at all.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {order: ok, every_row: wrong_value}}

import torch
from torch.utils.data import DataLoader, TensorDataset


def make_loader(X, y, batch_size, shuffle):
    from torch.utils.data import RandomSampler

    data = TensorDataset(X, y)
    sampler = RandomSampler(data, replacement=True) if shuffle else None
    return DataLoader(data, batch_size=batch_size, sampler=sampler)
