# Wrong ways to write time_training. docs/authoring.md explains the cells.

import numpy as np
import time
import torch


# %% time_sample_deviation
# Divides by repeats - 1: nan where there is one measurement.
# expect:
#   questions:
#     time_training: {status: partial, checks: {mean: ok, deviation: wrong_value, calls: ok}}

import statistics


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


# %% time_waits_for_one_gpu
# Waits for the current GPU alone; the other one goes on.
# expect:
#   questions:
#     time_training: {status: partial, checks: {mean: wrong_value, deviation: wrong_value, calls: ok}}

from time import perf_counter


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


# %% time_with_construction
# Makes a model inside of what is measured.
# expect:
#   questions:
#     time_training: {status: partial, checks: {mean: wrong_value, calls: ok}}

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


# %% time_without_waiting
# Reads the clock while the GPUs are still at work.
# expect:
#   questions:
#     time_training: {status: partial, checks: {mean: wrong_value, deviation: wrong_value, calls: ok}}

def time_training(model_fn, repeats=10):
    model = model_fn()
    train(model)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        train(model)
        times.append(time.perf_counter() - start)
    return float(np.mean(times)), float(np.std(times))


# %% time_without_warm_up
# Measures the first training too.
# expect:
#   questions:
#     time_training: {status: failed, checks: {mean: wrong_value, deviation: wrong_value, calls: wrong_value}}

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
