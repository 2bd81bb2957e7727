# The loop is in a method of a class.
# expect: loop_found

import torch


class Multiplier:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def run(self):
        return [self.x[i] @ self.y[i] for i in range(len(self.x))]


def batched_matrix_multiply_noloop(x, y):
    return torch.stack(Multiplier(x, y).run())
