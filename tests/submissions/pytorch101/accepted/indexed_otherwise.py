# Indices written otherwise; sums by sparse matrices, whose shape is large and whose memory is not.


# %% index_flipped
# The index is reversed by torch.flip: that is no flip of the matrix.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def reverse_rows(x):
    rows = torch.arange(len(x)).flip(0)
    print(rows[0].item())
    return x.index_select(0, rows)


def shuffle_cols(x):
    return x.gather(1, torch.tensor([0, 0, 2, 1]).expand(len(x), 4))


def take_one_elem_per_col(x):
    return x.take(torch.tensor([x.shape[1], 1, 3 * x.shape[1] + 2]))


def slice_assignment_practice(x):
    x[:2, 0].fill_(0)
    x[:2, 1].fill_(1)
    x[:2, 2:6].fill_(2)
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x


# %% index_reversed
# The index is reversed by reversed(), and used by the method behind the brackets.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def reverse_rows(x):
    return x.__getitem__(reversed(torch.arange(len(x))))


def shuffle_cols(x):
    return torch.index_select(x, 1, torch.tensor([0, 0, 2, 1]))


def take_one_elem_per_col(x):
    return x[(torch.tensor([1, 0, 3]), slice(0, 3))].diagonal().clone()


# %% means_by_a_sparse_matrix
# Coordinates of ones: N rows, a column for each number.
# expect:
#   questions:
#     # No log holds sparse tensors: a person looks.
#     challenge_mean_tensors: {status: deferred, checks: {means: ok, no_loops: needs_review, memory: needs_review}}
#     "*": {status: passed}

import torch


def challenge_mean_tensors(xs, ls):
    flat = torch.cat(xs).double()
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    places = torch.stack([owner, torch.arange(len(flat))])
    ones = torch.sparse_coo_tensor(places, torch.ones_like(flat), (len(xs), len(flat)))
    return (torch.sparse.mm(ones, flat[:, None])[:, 0] / ls).float()


# %% means_by_compressed_rows
# The same matrix, compressed by rows.
# expect:
#   questions:
#     # No log holds sparse tensors: a person looks.
#     challenge_mean_tensors: {status: deferred, checks: {means: ok, no_loops: needs_review, memory: needs_review}}
#     "*": {status: passed}

import torch


def challenge_mean_tensors(xs, ls):
    flat = torch.cat(xs).double()
    ends = torch.cat([torch.zeros(1, dtype=torch.int64), ls.cumsum(0)])
    places = torch.arange(len(flat))
    ones = torch.sparse_csr_tensor(ends, places, torch.ones_like(flat), (len(xs), len(flat)))
    return (ones @ flat / ls).float()
