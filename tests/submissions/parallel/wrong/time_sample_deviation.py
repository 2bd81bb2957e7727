# Divides by repeats - 1: nan where there is one measurement.
# expect:
#   questions:
#     time_training: {status: partial, checks: {mean: ok, deviation: wrong_value, calls: ok}}

import statistics
import time

import torch


def wait():
    for device in range(torch.cuda.device_count()):
        torch.cuda.synchronize(device)


def time_training(model_fn, repeats=10):
    model = model_fn()
    train(model)
    times = []
    for _ in range(repeats):
        wait()
        start = time.perf_counter()
        train(model)
        wait()
        times.append(time.perf_counter() - start)
    return statistics.mean(times), statistics.stdev(times) if repeats > 1 else float("nan")
