# Every image gets the same label.
# expect:
#   questions:
#     DigitDataset: {status: partial, checks: {images: ok, labels: wrong_value}}

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
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).flatten().float() / 255
        return image, torch.tensor([1.0])
