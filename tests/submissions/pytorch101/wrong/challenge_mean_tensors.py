# Wrong ways to write challenge_mean_tensors. docs/authoring.md explains the cells.

import torch


# %% means_by_greatest_length
# Divides by the length of the longest, padding counted in.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, points: 2, checks: {means: wrong_value}}

def challenge_mean_tensors(xs, ls):
    return torch.nn.utils.rnn.pad_sequence(xs, batch_first=True).mean(dim=1)


# %% means_column
# One row for each mean.
# expect:
#   questions:
#     challenge_mean_tensors: {status: failed, checks: {means: wrong_shape}}

def challenge_mean_tensors(xs, ls):
    padded = torch.nn.utils.rnn.pad_sequence(xs, batch_first=True)
    return padded.sum(dim=1, keepdim=True) / ls[:, None]


# %% means_comprehension
# One tensor a turn, in a comprehension.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, large: ok, no_loops: loop_found}}

def challenge_mean_tensors(xs, ls):
    return torch.stack([x.sum() for x in xs]) / ls


# %% means_first_two_hundred
# Room for 256 tensors is room enough, until there are more.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, large: wrong_shape}}

def challenge_mean_tensors(xs, ls):
    xs, ls = xs[:256], ls[:256]
    return torch.nn.utils.rnn.pad_sequence(xs, batch_first=True).sum(dim=1) / ls


# %% means_float64
# Returns float64.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, dtype: wrong_dtype}}

def challenge_mean_tensors(xs, ls):
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    sums = torch.zeros(len(xs), dtype=torch.float64).index_add(0, owner, torch.cat(xs).double())
    return sums / ls


# %% means_guarded_divisor
# Adds a little to each length, against a division by zero that cannot be.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, to_rounding: wrong_value}}

def challenge_mean_tensors(xs, ls):
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    return torch.zeros(len(xs)).index_add(0, owner, torch.cat(xs)) / (ls + 1e-4)


# %% means_loop
# One tensor a turn.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, large: ok, no_loops: loop_found}}

def challenge_mean_tensors(xs, ls):
    means = torch.zeros(len(xs))
    for i in range(len(xs)):
        means[i] = xs[i].mean()
    return means


# %% means_loop_by_max
# Divides by the length of the longest, and fills nothing up.
# expect:
#   mistakes: [means_by_greatest_length]
#   questions:
#     challenge_mean_tensors: {status: partial, says: "Every sum is divided by the length of the longest tensor"}

def challenge_mean_tensors(xs, ls):
    means = torch.zeros(len(xs))
    for i in range(len(xs)):
        means[i] = xs[i].sum() / ls.max()
    return means


# %% means_map_by_a_built_up_name
# map, found by a name that is put together.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, memory: ok, unmodified: ok, no_loops: loop_found}}

import builtins


def challenge_mean_tensors(xs, ls):
    each = getattr(builtins, "ma" + "p")
    return torch.stack(list(each(lambda x: x.sum() / len(x), xs)))


# %% means_map_out_of_a_table
# map, out of the table of names.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, memory: ok, unmodified: ok, no_loops: loop_found}}

import builtins


def challenge_mean_tensors(xs, ls):
    each = vars(builtins)["".join(["m", "a", "p"])]
    return torch.stack(list(each(lambda x: x.sum() / len(x), xs)))


# %% means_mask_of_all
# A mask of N × all numbers: too much memory for 10,000 tensors.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, to_rounding: ok, memory: too_much_memory}}

def challenge_mean_tensors(xs, ls):
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    mask = (torch.arange(len(xs))[:, None] == owner).float()
    return mask @ torch.cat(xs) / ls


# %% means_one_hot_owners
# The owners as one-hot rows: the same mask by another name.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, memory: too_much_memory}}

import torch.nn.functional as F


def challenge_mean_tensors(xs, ls):
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    return F.one_hot(owner).float().t() @ torch.cat(xs) / ls


# %% means_overwrites_lengths
# Sums the lengths up in place, in the caller's tensor.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, large: ok, unmodified: input_modified}}

def challenge_mean_tensors(xs, ls):
    padded = torch.nn.utils.rnn.pad_sequence(xs, batch_first=True)
    means = padded.sum(dim=1) / ls
    ls.cumsum_(0)
    return means


# %% means_positive_only
# Drops what is not above zero.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: wrong_value}}

def challenge_mean_tensors(xs, ls):
    padded = torch.nn.utils.rnn.pad_sequence(xs, batch_first=True)
    return padded.clamp(min=0).sum(dim=1) / ls


# %% means_running_sum
# Takes differences of a float32 sum that runs through all tensors: small means lose digits behind large ones.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: ok, to_rounding: ok, no_blur: wrong_value, no_loops: ok, memory: ok}}

def challenge_mean_tensors(xs, ls):
    c = torch.cat((torch.zeros(1), torch.cat(xs).cumsum(0)))
    e = ls.cumsum(0)
    return (c[e] - c[e - ls]) / ls


# %% means_sums
# Sums, never divided.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial, points: 2, checks: {means: wrong_value}}

def challenge_mean_tensors(xs, ls):
    return torch.nn.utils.rnn.pad_sequence(xs, batch_first=True).sum(dim=1)


# %% means_zeros_not_counted
# Takes zeros for padding.
# expect:
#   questions:
#     challenge_mean_tensors: {status: partial}

def challenge_mean_tensors(xs, ls):
    padded = torch.nn.utils.rnn.pad_sequence(xs, batch_first=True)
    return padded.sum(dim=1) / (padded != 0).sum(dim=1)


# %% mean_by_halves
# A loop as recursion: each half by itself, down to one tensor.
# expect:
#   questions:
#     challenge_mean_tensors: {checks: {means: ok, no_loops: loop_found}}

def challenge_mean_tensors(xs, ls):
    means = torch.zeros(len(xs))

    def walk(first, last):
        if last - first > 1:
            middle = (first + last) // 2
            walk(first, middle)
            walk(middle, last)
        elif last > first:
            means[first] = (xs[first].double().sum() / ls[first]).float()

    walk(0, len(xs))
    return means


# %% mean_by_a_pattern
# A loop as a replacement: the pattern calls a function for each character.
# expect:
#   questions:
#     challenge_mean_tensors: {checks: {means: ok, no_loops: loop_found}}

def challenge_mean_tensors(xs, ls):
    means = torch.zeros(len(xs))

    def step(match):
        place = match.start()
        means[place] = (xs[place].double().sum() / ls[place]).float()
        return ""

    __import__("re").sub(".", step, "x" * len(xs))
    return means


# %% mean_by_a_compiled_pattern
# The same with a pattern that was compiled.
# expect:
#   questions:
#     challenge_mean_tensors: {checks: {means: ok, no_loops: loop_found}}

def challenge_mean_tensors(xs, ls):
    import re

    means = torch.zeros(len(xs))

    def step(place):
        means[place] = (xs[place].double().sum() / ls[place]).float()
        return ""

    re.compile(".").sub(lambda match: step(match.start()), "x" * len(xs))
    return means


# %% means_are_one
# One mean of all numbers: no loop, and little memory, are no work there.
# expect:
#   mistakes: [means_of_all]
#   questions:
#     challenge_mean_tensors: {status: partial, checks: {means: wrong_shape, no_loops: requirement_not_met, memory: requirement_not_met}}

def challenge_mean_tensors(xs, ls):
    return torch.cat(xs).mean()
