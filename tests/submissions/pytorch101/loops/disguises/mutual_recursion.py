# Two functions that call one another.
# expect: loop_found

import torch


def ping(x, y, done):
    return done if len(done) == len(x) else pong(x, y, done + [x[len(done)] @ y[len(done)]])


def pong(x, y, done):
    return done if len(done) == len(x) else ping(x, y, done + [x[len(done)] @ y[len(done)]])


def batched_matrix_multiply_noloop(x, y):
    return torch.stack(ping(x, y, []))
