# Wrong ways to write several functions. docs/authoring.md explains the cells.

import torch


# %% dataset_not_for_workers
# Counts on being in the process that made it.
# expect:
#   questions:
#     DigitDataset: {status: passed}
#     DigitDataset_with_workers: {status: failed, code: raised}

import os
from pathlib import Path

import numpy as np
from torch.utils.data import Dataset


class DigitDataset(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*/*.npy"))
        self.process = os.getpid()

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        assert os.getpid() == self.process
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).flatten().float() / 255
        return image, torch.tensor([float(file.parent.name == "3")])


# %% stubs_none
# Every function is there and does nothing.
# expect:
#   questions:
#     train_minibatch: {status: failed, checks: {weights: wrong_value, losses: not_implemented}}
#     predict: {status: failed, code: not_implemented}
#     build_net: {status: failed, code: not_implemented}
#     search: {status: failed}

def build_net():
    pass


def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    pass


def predict(net, X, batch_size):
    pass


def search(config_space, train_fn, num_samples, seed=0):
    pass
