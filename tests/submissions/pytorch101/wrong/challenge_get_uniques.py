# Wrong ways to write challenge_get_uniques. docs/authoring.md explains the cells.

import torch


# %% uniques_all_pairs
# Compares each value with each number: N times U places in memory.
# expect:
#   questions:
#     challenge_get_uniques: {status: partial, checks: {values_and_places: ok, memory: too_much_memory}}

def challenge_get_uniques(x):
    values = torch.unique(x)
    places = (values[:, None] == x).int().argmax(dim=1)
    return values, places


# %% uniques_counts
# How often each value comes instead of where.
# expect:
#   questions:
#     challenge_get_uniques: {status: partial, points: 0.6, checks: {values_and_places: wrong_value}}

def challenge_get_uniques(x):
    return torch.unique(x, return_counts=True)


# %% uniques_last_place
# The place where each value comes last.
# expect:
#   questions:
#     challenge_get_uniques: {status: partial, points: 2.4, checks: {values_and_places: wrong_value}}

def challenge_get_uniques(x):
    ordered, places = torch.sort(x, stable=True)
    last = torch.ones_like(ordered, dtype=torch.bool)
    last[:-1] = ordered[1:] != ordered[:-1]
    return ordered[last], places[last]


# %% uniques_loop
# Number by number.
# expect:
#   questions:
#     challenge_get_uniques: {status: deferred, checks: {values_and_places: ok, memory: needs_review, no_loops: loop_found, no_unique: ok}}

def challenge_get_uniques(x):
    first = {}
    for place, value in enumerate(x.tolist()):
        first.setdefault(value, place)
    return torch.tensor(list(first)), torch.tensor(list(first.values()))


# %% uniques_sentinel
# Takes for granted that no number is -1.
# expect:
#   questions:
#     challenge_get_uniques: {status: partial, checks: {values_and_places: ok, minus_one: wrong_shape, large_numbers: ok}}

def challenge_get_uniques(x):
    ordered, places = torch.sort(x, stable=True)
    prev = torch.full_like(ordered, -1)
    prev[1:] = ordered[:-1]
    first = ordered != prev
    return ordered[first], places[first]


# %% uniques_sorts_in_place
# Sorts the caller's numbers.
# expect:
#   questions:
#     challenge_get_uniques: {status: partial, checks: {values_and_places: ok, unmodified: input_modified}}

def challenge_get_uniques(x):
    ordered, places = torch.sort(x, stable=True)
    x.copy_(ordered)
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first], places[first]


# %% uniques_through_float32
# Sorts in float32, where large numbers next to each other are one.
# expect:
#   questions:
#     challenge_get_uniques: {status: partial, checks: {values_and_places: ok, minus_one: ok, large_numbers: wrong_shape}}

def challenge_get_uniques(x):
    ordered, places = torch.sort(x.float(), stable=True)
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return x[places[first]], places[first]


# %% uniques_torch_unique
# torch.unique, which earns half.
# expect:
#   questions:
#     challenge_get_uniques: {status: partial, checks: {values_and_places: ok, memory: ok, no_loops: ok, no_unique: forbidden_call}}

def challenge_get_uniques(x):
    values, inverse = torch.unique(x, return_inverse=True)
    places = torch.full((values.shape[0],), x.shape[0]).scatter_reduce(
        0, inverse, torch.arange(x.shape[0]), "amin"
    )
    return values, places


# %% uniques_unstable
# A sort that is not stable: right by chance for few numbers, wrong for many.
# expect:
#   questions:
#     challenge_get_uniques: {status: partial, checks: {values_and_places: wrong_value}}

def challenge_get_uniques(x):
    ordered, places = torch.sort(x, stable=False)
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first], places[first]


# %% uniques_values_only
# The places are missing.
# expect:
#   mistakes: [uniques_values_alone]
#   questions:
#     challenge_get_uniques: {status: partial, checks: {values_and_places: wrong_type, no_unique: forbidden_call}}

def challenge_get_uniques(x):
    return torch.unique(x)


# %% uniques_by_a_loop_for_few
# A loop for fewer than a hundred numbers alone.
# expect:
#   questions:
#     challenge_get_uniques: {status: partial, checks: {values_and_places: ok, no_loops: loop_found, no_unique: ok}}
#     "*": {status: passed}

def challenge_get_uniques(x):
    values, places = torch.sort(x, stable=True)
    new = torch.ones(len(x), dtype=torch.bool)
    if len(x) < 100:
        for i in range(1, len(x)):
            new[i] = values[i] != values[i - 1]
    else:
        new[1:] = values[1:] != values[:-1]
    return values[new], places[new]
