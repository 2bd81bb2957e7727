# Everything by methods of the tensor.
# expect:
#   questions:
#     "*": {status: passed}

import torch


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
