# The inputs are shuffled and the labels are not.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {order: ok, every_row: ok, paired: wrong_value}}

import torch
from torch.utils.data import DataLoader, TensorDataset


def make_loader(X, y, batch_size, shuffle):
    rows = DataLoader(X, batch_size=batch_size, shuffle=shuffle)
    labels = DataLoader(y, batch_size=batch_size)

    class Both:
        def __len__(self):
            return len(rows)

        def __iter__(self):
            return zip(rows, labels)

    return Both()
