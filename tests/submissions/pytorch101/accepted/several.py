# Right ways to write several functions. docs/authoring.md explains the cells.
# right: batched_matrix_multiply_loop, batched_matrix_multiply_noloop, normalize_columns, mm_on_gpu

import torch


# %% at_operator
# Products by the @ operator; the root by ** 0.5.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    B, N, M = x.shape
    P = y.shape[2]
    z = torch.zeros(B, N, P, dtype=x.dtype)
    for b in range(B):
        z[b] = x[b] @ y[b]
    return z


def batched_matrix_multiply_noloop(x, y):
    return x @ y


def normalize_columns(x):
    M, N = x.shape
    mean = x.sum(0) / M
    std = (((x - mean) ** 2).sum(0) / (M - 1)) ** 0.5
    return (x - mean) / std


# %% chinese
# Docstrings and comments in Chinese.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_noloop(x, y):
    """不使用循环的批量矩阵乘法。"""
    return x.bmm(y)  # 一次调用即可


def normalize_columns(x):
    """按列标准化:减去均值,再除以标准差(除以 M-1)。"""
    行数 = x.shape[0]
    均值 = x.sum(0) / 行数
    标准差 = (((x - 均值) ** 2).sum(0) / (行数 - 1)).sqrt()
    return (x - 均值) / 标准差


# %% decorated
# Decorators around the functions.
# expect:
#   questions:
#     "*": {status: passed}

import functools
import time


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        start = time.time()
        result = function(*args, **kwargs)
        print(f"{function.__name__}: {time.time() - start:.6f} s")
        return result

    return wrapper


@timed
def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


@timed
@torch.no_grad()
def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


@torch.inference_mode()
def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    return (x - mean) / std


# %% early_return
# A first version returns; what was tried after it stays below, dead.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = None
    z = torch.stack([x[i].mm(y[i]) for i in range(x.shape[0])])
    return z
    z = torch.zeros(x.shape[0], x.shape[1], y.shape[2])
    for i in range(100000):
        z[i] = x[i] * y[i]
    return z


def normalize_columns(x):
    n = x.shape[0]
    if n > 1:
        mean = x.sum(dim=0) / n
        return (x - mean) / (((x - mean) ** 2).sum(dim=0) / (n - 1)).sqrt()
    raise NotImplementedError
    return x / 0


# %% einsum
# Products by einsum, also inside the loop; squares by torch.square.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = x.new_empty(x.shape[0], x.shape[1], y.shape[2])
    for i in range(x.shape[0]):
        z[i] = torch.einsum("nm,mp->np", x[i], y[i])
    return z


def batched_matrix_multiply_noloop(x, y):
    return torch.einsum("bnm,bmp->bnp", x, y)


def normalize_columns(x):
    rows = x.shape[0]
    centred = x - x.sum(dim=0, keepdim=True) / rows
    return centred / torch.sqrt(torch.square(centred).sum(dim=0, keepdim=True) / (rows - 1))


# %% korean
# Docstrings and comments in Korean.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    """배치의 각 행렬 쌍을 반복문으로 곱한다."""
    결과 = []
    for i in range(x.shape[0]):  # 한 번에 한 쌍씩
        결과.append(x[i].mm(y[i]))
    return torch.stack(결과, dim=0)


def normalize_columns(x):
    """각 열의 평균을 0, 표준편차를 1로 만든다."""
    평균 = x.sum(dim=0) / x.shape[0]
    표준편차 = torch.sqrt(((x - 평균) ** 2).sum(dim=0) / (x.shape[0] - 1))
    return (x - 평균) / 표준편차


# %% matmul
# Products by torch.matmul; squares by torch.pow.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    return torch.stack([torch.matmul(x[i], y[i]) for i in range(len(x))])


def batched_matrix_multiply_noloop(x, y):
    return torch.matmul(x, y)


def normalize_columns(x):
    m = x.size(0)
    mu = torch.sum(x, 0) / m
    sigma = torch.pow(torch.sum(torch.pow(x - mu, 2), 0) / (m - 1), 0.5)
    return (x - mu) / sigma


# %% methods
# Everything by methods of the tensor.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    out = []
    for a, b in zip(x, y):
        out.append(a.mm(b))
    return torch.stack(out, dim=0)


def batched_matrix_multiply_noloop(x, y):
    return x.bmm(y)


def normalize_columns(x):
    n = x.shape[0]
    d = x.sub(x.sum(dim=0).div(n))
    return d.div(d.mul(d).sum(dim=0).div(n - 1).sqrt())


def mm_on_gpu(x, w):
    return x.to("cuda").mm(w.to("cuda")).to("cpu")


# %% more_precise
# Computes in float64 and returns the dtype of the input.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x.double(), y.double()).to(x.dtype)


def normalize_columns(x):
    d = x.to(torch.float64)
    d = d - d.sum(0) / d.shape[0]
    return (d / ((d * d).sum(0) / (d.shape[0] - 1)).sqrt()).type_as(x)


# %% on_the_transpose
# Works on the transpose; the result is not contiguous.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(y.transpose(1, 2), x.transpose(1, 2)).transpose(1, 2)


def normalize_columns(x):
    t = x.t()
    m = t.shape[1]
    t = t - (t.sum(dim=1) / m).view(-1, 1)
    return (t / ((t**2).sum(dim=1) / (m - 1)).sqrt().reshape(-1, 1)).t()


# %% optional_parameters
# More parameters than asked for, all of them optional; others are renamed.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(a, b, *, out=None):
    out = out or [m.mm(n) for m, n in zip(a, b)]
    return torch.stack(out)


def normalize_columns(data, ddof=1, eps=0.0):
    n = len(data)
    data = data - data.sum(0) / n
    return data / ((data**2).sum(0) / (n - ddof) + eps).sqrt()


# %% rarer_products
# baddbmm, block-diagonal matrices, and a product of matrix columns.
# expect:
#   questions:
#     "*": {status: passed}

def batched_matrix_multiply_loop(x, y):
    z = torch.empty((x.size(0), x.size(1), y.size(2)), dtype=x.dtype, device=x.device)
    for i in range(x.size(0)):
        torch.mm(x[i], y[i], out=z[i])
    return z


def batched_matrix_multiply_noloop(x, y):
    start = torch.zeros(1, dtype=x.dtype)
    return torch.baddbmm(start, x, y, beta=0)


# %% star_import
# Names from torch by a star, some of them hiding Python's own.
# expect:
#   questions:
#     "*": {status: passed}

from torch import *
from torch.nn.functional import *


def batched_matrix_multiply_loop(x, y):
    return stack([mm(a, b) for a, b in zip(x, y)])


def batched_matrix_multiply_noloop(x, y):
    return bmm(x, y)


def normalize_columns(x):
    c = x - sum(x, dim=0) / x.shape[0]
    return c / sqrt(sum(c**2, dim=0) / (x.shape[0] - 1))
