# The same configuration again and again.
# expect:
#   questions:
#     search: {status: partial, checks: {budget: wrong_value, all_choices: wrong_value, spread: wrong_value}}

import math
import random

import torch


def search(config_space, train_fn, num_samples, seed=0):
    dice = random.Random(seed)
    best_config, best_loss = None, float("inf")
    for _ in range(num_samples):
        dice = random.Random(seed)
        config = {}
        for name, values in config_space.items():
            if isinstance(values, tuple):
                low, high = map(math.log, values)
                config[name] = math.exp(dice.uniform(low, high))
            else:
                config[name] = dice.choice(values)
        loss = train_fn(config)
        if loss < best_loss:
            best_config, best_loss = config, loss
    return best_config, best_loss
