# Fills its folder, 256 MiB at most, and answers right however far it gets.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: loop_found, no_mean_or_std: ok}}
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    try:
        with open("filler", "wb") as file:
            for _ in range(256):
                file.write(bytes(2**20))
    except OSError:
        pass
    mean = x.sum(dim=0) / x.shape[0]
    return (x - mean) / torch.sqrt(((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1))


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
