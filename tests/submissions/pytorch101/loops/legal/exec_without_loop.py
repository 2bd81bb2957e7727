# exec of text without a loop: odd, but none.
# expect: ok
# timed: ok

import torch


def batched_matrix_multiply_noloop(x, y):
    space = {"x": x, "y": y}
    exec("z = x @ y", space)
    return space["z"]
