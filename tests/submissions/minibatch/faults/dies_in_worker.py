# Each worker process of a loader ends itself; only the question with workers is lost.
# expect:
#   questions:
#     DigitDataset: {status: passed}
#     DigitDataset_with_workers: {status: partial, code: raised}

import os
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import Dataset


class DigitDataset(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*/*.npy"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        if torch.utils.data.get_worker_info() is not None:
            os._exit(3)
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).flatten().float() / 255
        return image, torch.tensor([float(file.parent.name == "3")])
