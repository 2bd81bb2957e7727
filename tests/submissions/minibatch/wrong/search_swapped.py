# Returns the loss first: what was tried is right all the same.
# expect:
#   questions:
#     search: {status: partial, checks: {returned: ok, budget: ok, inside: ok, best: wrong_value, its_config: wrong_value, spread: ok}}

import math
import random


def search(config_space, train_fn, num_samples, seed=0):
    dice = random.Random(seed)
    tried = []
    for _ in range(num_samples):
        config = {}
        for name, values in config_space.items():
            if isinstance(values, tuple):
                low, high = map(math.log, values)
                config[name] = math.exp(dice.uniform(low, high))
            else:
                config[name] = dice.choice(values)
        loss = train_fn(config)
        if not math.isnan(loss):
            tried.append((loss, config))
    return min(tried, key=lambda pair: pair[0])
