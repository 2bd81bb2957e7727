# Products by einsum, also inside the loop; squares by torch.square.
# expect:
#   questions:
#     "*": {status: passed}

import torch


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


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
