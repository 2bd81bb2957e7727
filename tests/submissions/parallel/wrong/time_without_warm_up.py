# Measures the first training too.
# expect:
#   questions:
#     time_training: {status: failed, checks: {mean: wrong_value, deviation: wrong_value, calls: wrong_value}}

import time

import numpy as np
import torch


def wait():
    for device in range(torch.cuda.device_count()):
        torch.cuda.synchronize(device)


def time_training(model_fn, repeats=10):
    model = model_fn()
    times = []
    for _ in range(repeats):
        wait()
        start = time.perf_counter()
        train(model)
        wait()
        times.append(time.perf_counter() - start)
    return float(np.mean(times)), float(np.std(times))
