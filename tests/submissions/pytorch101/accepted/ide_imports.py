# Imports that an editor put in by itself; cv2 and one of tkinter's names are missing on most
# machines, and no function needs them.
# expect:
#   questions:
#     "*": {status: passed}

from cmath import pi
from tkinter import X
from this import d
import math
import time

import cv2
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import Tensor, col_indices_copy


def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    return (x - mean) / std


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
