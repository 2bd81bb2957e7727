# After the last image comes the first.
# expect:
#   questions:
#     DigitDataset: {status: partial, checks: {images: ok, out_of_range: wrong_value}}

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
        file = self.files[index % len(self.files)]
        image = torch.from_numpy(np.load(file)).flatten().float() / 255
        return image, torch.tensor([float(file.parent.name == "3")])
