# The loop is in a function inside the function.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    def run():
        for i in range(len(x)):
            yield x[i] @ y[i]

    return torch.stack(list(run()))
