# Numbers of numpy's and torch's; names in another order, the loss in single precision.
# expect:
#   questions:
#     "*": {status: passed}

import numpy as np
import torch


def search(config_space, train_fn, num_samples, seed=0):
    dice = np.random.default_rng(seed)
    tried = []
    for _ in range(num_samples):
        config = {}
        for name in sorted(config_space):
            values = config_space[name]
            if isinstance(values, tuple):
                exponent = dice.uniform(*np.log10(values))
                config[name] = torch.tensor(10.0**exponent, dtype=torch.float64)
            else:
                config[name] = dice.choice(values)
        tried.append((config, np.float32(train_fn(config))))
    return min(tried, key=lambda pair: (np.isnan(pair[1]), pair[1]))
