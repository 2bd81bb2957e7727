# Waits for the current GPU alone; the other one goes on.
# expect:
#   questions:
#     time_training: {status: partial, checks: {mean: wrong_value, deviation: wrong_value, calls: ok}}

from time import perf_counter

import numpy as np
import torch


def time_training(model_fn, repeats=10):
    model = model_fn()
    train(model)
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = perf_counter()
        train(model)
        torch.cuda.synchronize()
        times.append(perf_counter() - start)
    return float(np.mean(times)), float(np.std(times))
