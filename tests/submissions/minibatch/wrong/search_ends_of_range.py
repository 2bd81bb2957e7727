# Only the two ends of a range.
# expect:
#   questions:
#     search: {status: partial, checks: {budget: ok, logarithmic: requirement_not_met, spread: wrong_value}}

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
                config[name] = dice.choice(values)
            else:
                config[name] = dice.choice(values)
        loss = train_fn(config)
        if loss < best_loss:
            best_config, best_loss = config, loss
    return best_config, best_loss
