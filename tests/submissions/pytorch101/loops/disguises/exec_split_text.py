# exec of text put together at run time.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    words = ["rof", "ni"]
    text = "z = [a @ b %s a, b %s zip(x, y)]" % tuple(map(lambda word: word[::-1], words))
    space = {"x": x, "y": y}
    exec(text, space)
    return torch.stack(space["z"])
