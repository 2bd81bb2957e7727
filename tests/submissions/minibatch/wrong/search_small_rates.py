# The logarithm twice: nearly all rates are small.
# expect:
#   questions:
#     search: {status: partial, checks: {budget: ok, logarithmic: wrong_value, spread: ok}}

import math
import random

import torch


def search(config_space, train_fn, num_samples, seed=0):
    dice = random.Random(seed)
    best_config, best_loss = None, float("inf")
    for _ in range(num_samples):
        config = {}
        for name, values in config_space.items():
            if isinstance(values, tuple):
                low, high = map(math.log, values)
                config[name] = math.exp(low + (high - low) * dice.random() ** 2.5)
            else:
                config[name] = dice.choice(values)
        loss = train_fn(config)
        if loss < best_loss:
            best_config, best_loss = config, loss
    return best_config, best_loss
