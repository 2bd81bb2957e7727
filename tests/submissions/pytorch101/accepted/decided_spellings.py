# Dims through a variable, a scatter that sums, printed lists of tensors: nothing for a person.
# expect:
#   questions:
#     normalize_columns: {status: passed}
#     challenge_mean_tensors: {status: passed}
#     "*": {status: passed}

import torch


def normalize_columns(x):
    rank = len(x.shape)
    sizes = [1 if d == 0 else x.shape[d] for d in range(rank)]
    zeros = torch.zeros(x.shape, dtype=torch.int64)
    sums = x.new_zeros(sizes).scatter_reduce(0, zeros, x, "sum")
    c = x - sums / x.shape[0]
    return c / ((c**2).sum(0) / (x.shape[0] - 1)).sqrt()


def challenge_mean_tensors(xs, ls):
    print(xs)
    print([xs[0], xs[-1]])
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    return torch.zeros(len(xs)).index_add(0, owner, torch.cat(xs)) / ls
