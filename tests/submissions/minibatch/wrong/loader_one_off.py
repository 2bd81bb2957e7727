# Says one batch too few.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {order: ok, sizes: ok, number: wrong_value}}

import torch
from torch.utils.data import DataLoader, TensorDataset


def make_loader(X, y, batch_size, shuffle):
    class Loader(DataLoader):
        def __len__(self):
            return len(X) // batch_size

    return Loader(TensorDataset(X, y), batch_size=batch_size, shuffle=shuffle)
