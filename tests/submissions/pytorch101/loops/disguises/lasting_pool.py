# A pool whose threads run before anyone looks.
# expect: loop_found

from concurrent.futures import ThreadPoolExecutor

import torch


POOL = ThreadPoolExecutor(2)
POOL.submit(int).result()


def batched_matrix_multiply_noloop(x, y):
    return torch.stack(list(POOL.map(torch.mm, x, y)))
