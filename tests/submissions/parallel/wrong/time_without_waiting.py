# Reads the clock while the GPUs are still at work.
# expect:
#   questions:
#     time_training: {status: partial, checks: {mean: wrong_value, deviation: wrong_value, calls: ok}}

import time

import numpy as np


def time_training(model_fn, repeats=10):
    model = model_fn()
    train(model)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        train(model)
        times.append(time.perf_counter() - start)
    return float(np.mean(times)), float(np.std(times))
