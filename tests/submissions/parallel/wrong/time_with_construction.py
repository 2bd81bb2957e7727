# Makes a model inside of what is measured.
# expect:
#   questions:
#     time_training: {status: partial, checks: {mean: wrong_value, calls: ok}}

import time

import numpy as np
import torch


def wait():
    for device in range(torch.cuda.device_count()):
        torch.cuda.synchronize(device)


def time_training(model_fn, repeats=10):
    train(model_fn())
    times = []
    for _ in range(repeats):
        wait()
        start = time.perf_counter()
        train(model_fn())
        wait()
        times.append(time.perf_counter() - start)
    return float(np.mean(times)), float(np.std(times))
