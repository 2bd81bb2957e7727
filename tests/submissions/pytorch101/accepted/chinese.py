# Docstrings and comments in Chinese.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


def batched_matrix_multiply_noloop(x, y):
    """不使用循环的批量矩阵乘法。"""
    return x.bmm(y)  # 一次调用即可


def normalize_columns(x):
    """按列标准化:减去均值,再除以标准差(除以 M-1)。"""
    行数 = x.shape[0]
    均值 = x.sum(0) / 行数
    标准差 = (((x - 均值) ** 2).sum(0) / (行数 - 1)).sqrt()
    return (x - 均值) / 标准差


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
