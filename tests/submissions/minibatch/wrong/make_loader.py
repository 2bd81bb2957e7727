# Wrong ways to write make_loader. docs/authoring.md explains the cells.

import torch
from torch.utils.data import DataLoader, TensorDataset


# %% loader_always_shuffles
# Shuffles whether or not it is asked to.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {order: wrong_value, sizes: ok}}

def make_loader(X, y, batch_size, shuffle):
    return DataLoader(TensorDataset(X, y), batch_size=batch_size, shuffle=True)


# %% loader_drops_last
# The rows left over are dropped.
# expect:
#   mistakes: [loader_drops_the_last]
#   questions:
#     make_loader: {status: partial, checks: {order: ok, sizes: wrong_type, every_row: wrong_value, paired: ok, reshuffled: ok}}

def make_loader(X, y, batch_size, shuffle):
    return DataLoader(TensorDataset(X, y), batch_size=batch_size, shuffle=shuffle, drop_last=True)


# %% loader_float_labels
# Whole numbers for labels become floats.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {order: ok, dtype: wrong_dtype}}

def make_loader(X, y, batch_size, shuffle):
    return DataLoader(TensorDataset(X, y.double()), batch_size=batch_size, shuffle=shuffle)


# %% loader_floats
# Everything becomes float32.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {order: wrong_value, sizes: ok}}

def make_loader(X, y, batch_size, shuffle):
    return DataLoader(TensorDataset(X.float(), y.float()), batch_size=batch_size, shuffle=shuffle)


# %% loader_labels_stay
# The inputs are shuffled and the labels are not.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {order: ok, every_row: ok, paired: wrong_value}}

def make_loader(X, y, batch_size, shuffle):
    rows = DataLoader(X, batch_size=batch_size, shuffle=shuffle)
    labels = DataLoader(y, batch_size=batch_size)

    class Both:
        def __len__(self):
            return len(rows)

        def __iter__(self):
            return zip(rows, labels)

    return Both()


# %% loader_never_shuffles
# Leaves shuffle at DataLoader's default, which is False.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {order: ok, reshuffled: wrong_value}}

def make_loader(X, y, batch_size, shuffle):
    return DataLoader(TensorDataset(X, y), batch_size=batch_size)


# %% loader_no_length
# A generator has no length.
# expect:
#   questions:
#     make_loader: {status: failed, code: raised}

def make_loader(X, y, batch_size, shuffle):
    return ((X[i : i + batch_size], y[i : i + batch_size]) for i in range(0, len(X), batch_size))


# %% loader_number_of_batches
# Takes the batch size for the number of batches.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {order: wrong_type, sizes: wrong_type, every_row: wrong_value}}

def make_loader(X, y, batch_size, shuffle):
    return DataLoader(TensorDataset(X, y), batch_size=len(X) // batch_size, shuffle=shuffle)


# %% loader_one_off
# Says one batch too few.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {order: ok, sizes: ok, number: wrong_value}}

def make_loader(X, y, batch_size, shuffle):
    class Loader(DataLoader):
        def __len__(self):
            return len(X) // batch_size

    return Loader(TensorDataset(X, y), batch_size=batch_size, shuffle=shuffle)


# %% loader_shuffles_in_place
# Shuffles the caller's tensors.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {order: ok, unmodified: input_modified, reshuffled: wrong_value}}

def make_loader(X, y, batch_size, shuffle):
    if shuffle:
        order = torch.randperm(len(X))
        X[:] = X[order]
        y[:] = y[order]
    return DataLoader(TensorDataset(X, y), batch_size=batch_size)


# %% loader_shuffles_once
# The rows are shuffled once, and then come in the same order in each epoch.
# expect:
#   mistakes: [loader_never_shuffles]
#   questions:
#     make_loader: {status: partial, checks: {order: ok, every_row: ok, reshuffled: wrong_value}}

def make_loader(X, y, batch_size, shuffle):
    if shuffle:
        order = torch.randperm(len(X))
        X, y = X[order], y[order]
    return DataLoader(TensorDataset(X, y), batch_size=batch_size)


# %% loader_with_replacement
# Rows are drawn with replacement: some twice in an epoch, some not at all.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {order: ok, every_row: wrong_value}}

def make_loader(X, y, batch_size, shuffle):
    from torch.utils.data import RandomSampler

    data = TensorDataset(X, y)
    sampler = RandomSampler(data, replacement=True) if shuffle else None
    return DataLoader(data, batch_size=batch_size, sampler=sampler)
