# Counts on being in the process that made it.
# expect:
#   questions:
#     DigitDataset: {status: passed}
#     DigitDataset_with_workers: {status: failed, code: raised}

import os
from pathlib import Path

import numpy as np
import torch
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
