# Finds the threes only.
# expect:
#   questions:
#     DigitDataset: {status: failed, checks: {length: wrong_value, images: wrong_shape, labels: wrong_shape}}

from pathlib import Path

import numpy as np
import torch
from torch.utils.data import Dataset


class DigitDataset(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("3/*.npy"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).flatten().float() / 255
        return image, torch.tensor([float(file.parent.name == "3")])
