# An endless loop that will not be asked to stop.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: timed_out}
#     "*": {status: passed}

import signal

import torch


def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGXCPU):
        signal.signal(number, signal.SIG_IGN)
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
