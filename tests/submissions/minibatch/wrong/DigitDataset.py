# Wrong ways to write DigitDataset. docs/authoring.md explains the cells.

import numpy as np
from pathlib import Path
import torch
from torch.utils.data import Dataset


# %% dataset_double_images
# Images are float64.
# expect:
#   questions:
#     DigitDataset: {status: partial, checks: {images: ok, image_dtype: wrong_dtype}}

class DigitDataset(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*/*.npy"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).flatten().double() / 255
        return image, torch.tensor([float(file.parent.name == "3")])


# %% dataset_keeps_rows
# Images of 28 × 28.
# expect:
#   questions:
#     DigitDataset: {status: partial, checks: {images: wrong_shape, labels: ok}}

class DigitDataset(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*/*.npy"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).float() / 255
        return image, torch.tensor([float(file.parent.name == "3")])


# %% dataset_key_error
# An image that is not there is a KeyError.
# expect:
#   questions:
#     DigitDataset: {status: partial, checks: {images: ok, out_of_range: wrong_value}}

class DigitDataset(Dataset):
    def __init__(self, root):
        self.files = dict(enumerate(sorted(Path(root).glob("*/*.npy"))))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).flatten().float() / 255
        return image, torch.tensor([float(file.parent.name == "3")])


# %% dataset_label_is_digit
# The label is the digit.
# expect:
#   questions:
#     DigitDataset: {status: partial, checks: {images: ok, labels: wrong_value}}

class DigitDataset(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*/*.npy"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).flatten().float() / 255
        return image, torch.tensor([float(file.parent.name)])


# %% dataset_label_is_number
# The label has no shape.
# expect:
#   questions:
#     DigitDataset: {status: partial, checks: {images: ok, labels: wrong_shape}}

class DigitDataset(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*/*.npy"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).flatten().float() / 255
        return image, torch.tensor(float(file.parent.name == "3"))


# %% dataset_not_scaled
# Brightnesses go up to 255. The labels are right all the same.
# expect:
#   questions:
#     DigitDataset: {status: partial, points: 4.875, checks: {length: ok, images: wrong_value, labels: ok}}

class DigitDataset(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*/*.npy"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).flatten().float()
        return image, torch.tensor([float(file.parent.name == "3")])


# %% dataset_one_label
# Every image gets the same label.
# expect:
#   questions:
#     DigitDataset: {status: partial, checks: {images: ok, labels: wrong_value}}

class DigitDataset(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*/*.npy"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).flatten().float() / 255
        return image, torch.tensor([1.0])


# %% dataset_one_short
# Says one image too few.
# expect:
#   questions:
#     DigitDataset: {status: partial, points: 3.6, checks: {length: wrong_value, images: wrong_shape}}

class DigitDataset(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*/*.npy"))

    def __len__(self):
        return len(self.files) - 1

    def __getitem__(self, index):
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).flatten().float() / 255
        return image, torch.tensor([float(file.parent.name == "3")])


# %% dataset_reads_all
# Reads every file at once.
# expect:
#   questions:
#     DigitDataset: {status: failed, checks: {images: raised, labels: raised}}

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


# %% dataset_starts_again
# After the last image comes the first.
# expect:
#   questions:
#     DigitDataset: {status: partial, checks: {images: ok, out_of_range: wrong_value}}

class DigitDataset(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*/*.npy"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        file = self.files[index % len(self.files)]
        image = torch.from_numpy(np.load(file)).flatten().float() / 255
        return image, torch.tensor([float(file.parent.name == "3")])


# %% dataset_threes_only
# Finds the threes only.
# expect:
#   questions:
#     DigitDataset: {status: partial, points: 3, checks: {length: wrong_value, images: wrong_shape, labels: wrong_shape}}

class DigitDataset(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("3/*.npy"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).flatten().float() / 255
        return image, torch.tensor([float(file.parent.name == "3")])


# %% dataset_whole_labels
# Labels are whole numbers.
# expect:
#   questions:
#     DigitDataset: {status: partial, checks: {labels: ok, label_dtype: wrong_dtype}}

class DigitDataset(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*/*.npy"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).flatten().float() / 255
        return image, torch.tensor([int(file.parent.name == "3")])
