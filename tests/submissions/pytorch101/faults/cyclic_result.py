# Returns a list that holds itself.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: wrong_type}
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
    result = [x]
    result.append(result)
    return result


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
