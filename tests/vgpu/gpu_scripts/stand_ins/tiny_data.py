"""Data sets of drawn pictures under the names of torchvision's, which would be downloaded."""

import sys

import numpy as np
import torch
from PIL import Image
from torch.utils.data import Dataset

_SIZE = 128
_SETS = {
    "MNIST": ((28, 28), 10), "FashionMNIST": ((28, 28), 10), "KMNIST": ((28, 28), 10),
    "CIFAR10": ((32, 32, 3), 10), "CIFAR100": ((32, 32, 3), 100), "ImageFolder": ((64, 64, 3), 10),
    "FakeData": ((224, 224, 3), 1000), "LSUN": ((64, 64, 3), 10), "STL10": ((96, 96, 3), 10),
    "SVHN": ((32, 32, 3), 10),
}  # fmt: skip


class Drawn(Dataset):
    """A data set that takes what torchvision's take, and looks at none but ``transform``."""

    shape, number = (28, 28), 10

    def __init__(self, root="", *args, transform=None, target_transform=None, **kwargs):
        draws = np.random.RandomState(7)
        self.root, self.train = root, kwargs.get("train", True)
        self.transform = transform or next(filter(callable, args), None)
        self.target_transform = target_transform
        sides = tuple(kwargs.get("image_size", (0, *self.shape[:2]))[1:])
        self.data = draws.randint(0, 256, (_SIZE, *sides, *self.shape[2:])).astype("uint8")
        self.targets = [int(each) for each in draws.randint(0, self.number, _SIZE)]
        self.samples = self.imgs = [(f"{n}.png", each) for n, each in enumerate(self.targets)]
        self.classes = [str(each) for each in range(self.number)]
        self.class_to_idx = {each: number for number, each in enumerate(self.classes)}
        if len(self.shape) == 2:
            self.data, self.targets = torch.from_numpy(self.data), torch.tensor(self.targets)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        image, target = Image.fromarray(np.asarray(self.data[index])), int(self.targets[index])
        if self.transform is not None:
            image = self.transform(image)
        return image, target if self.target_transform is None else self.target_transform(target)


def replace(datasets):
    """Put them in the place of torchvision's."""
    for name, (shape, number) in _SETS.items():
        members = {"shape": shape, "number": number, "__module__": __name__}
        made = type(name, (Drawn,), members)
        # Where other processes find it.
        setattr(sys.modules[__name__], name, made)
        setattr(datasets, name, made)
