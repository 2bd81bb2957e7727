# Reads every file at once.
# expect:
#   questions:
#     DigitDataset: {status: failed, checks: {images: raised, labels: raised}}

from pathlib import Path

import numpy as np
import torch
from torch.utils.data import Dataset


class DigitDataset(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*/*.npy"))
        self.images = [torch.from_numpy(np.load(file)) for file in self.files]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        file = self.files[index]
        image = self.images[index].flatten().float() / 255
        return image, torch.tensor([float(file.parent.name == "3")])
