# Takes the batch size for the number of batches.
# expect:
#   questions:
#     make_loader: {status: failed, checks: {order: wrong_type, every_row: wrong_value}}

import torch
from torch.utils.data import DataLoader, TensorDataset


def make_loader(X, y, batch_size, shuffle):
    return DataLoader(TensorDataset(X, y), batch_size=len(X) // batch_size, shuffle=shuffle)
