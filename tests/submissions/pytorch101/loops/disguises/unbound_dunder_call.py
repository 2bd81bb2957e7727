# An object with __call__ that loops.
# expect: loop_found

import torch


class Run:
    def __call__(self, x, y):
        done = []
        for i in range(len(x)):
            done.append(x[i] @ y[i])
        return torch.stack(done)


batched_matrix_multiply_noloop = Run()
