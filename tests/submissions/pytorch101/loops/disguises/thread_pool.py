# Threads of a pool, where torch's modes see nothing.
# expect: loop_found

from concurrent.futures import ThreadPoolExecutor

import torch


def batched_matrix_multiply_noloop(x, y):
    with ThreadPoolExecutor(2) as pool:
        return torch.stack(list(pool.map(torch.mm, x, y)))
