# Wrong ways to write search. docs/authoring.md explains the cells.

import math
import random
import torch


# %% search_beyond
# Rates up to ten times the greatest.
# expect:
#   questions:
#     search: {status: partial, checks: {budget: ok, inside: wrong_value}}

def search(config_space, train_fn, num_samples, seed=0):
    dice = random.Random(seed)
    best_config, best_loss = None, float("inf")
    for _ in range(num_samples):
        config = {}
        for name, values in config_space.items():
            if isinstance(values, tuple):
                low, high = map(math.log, values)
                config[name] = math.exp(dice.uniform(low, high + math.log(10)))
            else:
                config[name] = dice.choice(values)
        loss = train_fn(config)
        if loss < best_loss:
            best_config, best_loss = config, loss
    return best_config, best_loss


# %% search_config_of_last
# The best loss beside the last configuration.
# expect:
#   questions:
#     search: {status: partial, checks: {budget: ok, best: ok, its_config: wrong_value}}

def search(config_space, train_fn, num_samples, seed=0):
    dice = random.Random(seed)
    best_config, best_loss = None, float("inf")
    for _ in range(num_samples):
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
    return config, best_loss


# %% search_ends_of_range
# Only the two ends of a range.
# expect:
#   questions:
#     search: {status: partial, checks: {budget: ok, logarithmic: requirement_not_met, spread: wrong_value}}

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


# %% search_first_choices
# Never the last choice of a list.
# expect:
#   questions:
#     search: {status: partial, checks: {budget: ok, all_choices: wrong_value}}

def search(config_space, train_fn, num_samples, seed=0):
    dice = random.Random(seed)
    best_config, best_loss = None, float("inf")
    for _ in range(num_samples):
        config = {}
        for name, values in config_space.items():
            if isinstance(values, tuple):
                low, high = map(math.log, values)
                config[name] = math.exp(dice.uniform(low, high))
            else:
                config[name] = dice.choice(values[:-1])
        loss = train_fn(config)
        if loss < best_loss:
            best_config, best_loss = config, loss
    return best_config, best_loss


# %% search_ignores_seed
# The seed is ignored.
# expect:
#   questions:
#     search: {status: partial, checks: {budget: ok, other_seed: wrong_value}}

def search(config_space, train_fn, num_samples, seed=0):
    dice = random.Random(0)
    best_config, best_loss = None, float("inf")
    for _ in range(num_samples):
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


# %% search_last
# Returns the last configuration.
# expect:
#   questions:
#     search: {status: partial, checks: {budget: ok, best: wrong_value}}

def search(config_space, train_fn, num_samples, seed=0):
    dice = random.Random(seed)
    best_config, best_loss = None, float("inf")
    for _ in range(num_samples):
        config = {}
        for name, values in config_space.items():
            if isinstance(values, tuple):
                low, high = map(math.log, values)
                config[name] = math.exp(dice.uniform(low, high))
            else:
                config[name] = dice.choice(values)
        loss = train_fn(config)
        if True:
            best_config, best_loss = config, loss
    return best_config, best_loss


# %% search_mean
# The mean loss, beside a configuration that was drawn for the answer alone.
# expect:
#   questions:
#     search: {status: failed, checks: {returned: wrong_value, budget: requirement_not_met}}

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


# %% search_misses_a_name
# Searches the rate only.
# expect:
#   questions:
#     search: {status: failed, code: raised}

def search(config_space, train_fn, num_samples, seed=0):
    dice = random.Random(seed)
    best_config, best_loss = None, float("inf")
    for _ in range(num_samples):
        config = {}
        for name, values in config_space.items():
            if isinstance(values, tuple):
                low, high = map(math.log, values)
                config[name] = math.exp(dice.uniform(low, high))
        loss = train_fn(config)
        if loss < best_loss:
            best_config, best_loss = config, loss
    return best_config, best_loss


# %% search_nan_first
# A first loss of NaN is never beaten.
# expect:
#   questions:
#     search: {status: partial, checks: {budget: ok, best: wrong_value}}

def search(config_space, train_fn, num_samples, seed=0):
    dice = random.Random(seed)
    best_config, best_loss = None, float("inf")
    for _ in range(num_samples):
        config = {}
        for name, values in config_space.items():
            if isinstance(values, tuple):
                low, high = map(math.log, values)
                config[name] = math.exp(dice.uniform(low, high))
            else:
                config[name] = dice.choice(values)
        loss = train_fn(config)
        if best_config is None or not loss >= best_loss:
            best_config, best_loss = config, loss
    return best_config, best_loss


# %% search_never_the_same
# Another search each time.
# expect:
#   questions:
#     search: {status: partial, checks: {budget: ok, same_again: wrong_value, other_seed: ok}}

def search(config_space, train_fn, num_samples, seed=0):
    dice = random.SystemRandom()
    best_config, best_loss = None, float("inf")
    for _ in range(num_samples):
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


# %% search_one_dict
# One dict for all: what is returned changes with every sample.
# expect:
#   questions:
#     search: {status: partial, checks: {budget: ok, best: ok, its_config: wrong_value}}

def search(config_space, train_fn, num_samples, seed=0):
    dice = random.Random(seed)
    best_config, best_loss = None, float("inf")
    config = {}
    for _ in range(num_samples):
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


# %% search_one_too_many
# Trains once more with the best at the end.
# expect:
#   questions:
#     search: {status: partial, checks: {budget: wrong_value, spread: ok}}

def search(config_space, train_fn, num_samples, seed=0):
    dice = random.Random(seed)
    best_config, best_loss = None, float("inf")
    for _ in range(num_samples):
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
    train_fn(best_config)
    return best_config, best_loss


# %% search_same_config
# The same configuration again and again.
# expect:
#   questions:
#     search: {status: partial, checks: {budget: wrong_value, all_choices: wrong_value, spread: wrong_value}}

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


# %% search_small_rates
# The logarithm twice: nearly all rates are small.
# expect:
#   questions:
#     search: {status: partial, checks: {budget: ok, logarithmic: wrong_value, spread: ok}}

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


# %% search_swapped
# Returns the loss first: what was tried is right all the same.
# expect:
#   questions:
#     search: {status: partial, checks: {returned: ok, budget: ok, inside: ok, best: wrong_value, its_config: wrong_value, spread: ok}}

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


# %% search_uniform
# Uniform, not its logarithm: hardly ever a small rate.
# expect:
#   questions:
#     search: {status: partial, checks: {budget: ok, logarithmic: wrong_value, spread: ok}}

def search(config_space, train_fn, num_samples, seed=0):
    dice = random.Random(seed)
    best_config, best_loss = None, float("inf")
    for _ in range(num_samples):
        config = {}
        for name, values in config_space.items():
            if isinstance(values, tuple):
                low, high = values
                config[name] = dice.uniform(low, high)
            else:
                config[name] = dice.choice(values)
        loss = train_fn(config)
        if loss < best_loss:
            best_config, best_loss = config, loss
    return best_config, best_loss


# %% search_worst
# Returns the greatest loss.
# expect:
#   questions:
#     search: {status: partial, checks: {budget: ok, best: wrong_value}}

def search(config_space, train_fn, num_samples, seed=0):
    dice = random.Random(seed)
    best_config, best_loss = None, -float("inf")
    for _ in range(num_samples):
        config = {}
        for name, values in config_space.items():
            if isinstance(values, tuple):
                low, high = map(math.log, values)
                config[name] = math.exp(dice.uniform(low, high))
            else:
                config[name] = dice.choice(values)
        loss = train_fn(config)
        if loss > best_loss:
            best_config, best_loss = config, loss
    return best_config, best_loss
