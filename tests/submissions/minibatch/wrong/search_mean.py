# The mean loss, beside a configuration that was drawn for the answer alone.
# expect:
#   questions:
#     search: {status: failed, checks: {returned: wrong_value, budget: requirement_not_met}}

import math
import random
import statistics


def _draw(config_space, dice):
    config = {}
    for name, values in config_space.items():
        if isinstance(values, tuple):
            low, high = map(math.log, values)
            config[name] = math.exp(dice.uniform(low, high))
        else:
            config[name] = dice.choice(values)
    return config


def search(config_space, train_fn, num_samples, seed=0):
    dice = random.Random(seed)
    losses = [train_fn(_draw(config_space, dice)) for _ in range(num_samples)]
    mean = statistics.mean(loss for loss in losses if not math.isnan(loss))
    return _draw(config_space, dice), mean
