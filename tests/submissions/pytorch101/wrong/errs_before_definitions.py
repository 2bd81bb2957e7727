# An error between the definitions: what comes after it does not exist.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: import_failed}
#     mm_on_gpu: {status: failed, code: import_failed}
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


torch.set_everything_right()


def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    return (x - mean) / std


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
