# Wrong ways to write save_tensors. docs/authoring.md explains the cells.

import torch


# %% save_double
# Saves everything as float64.
# expect:
#   questions:
#     save_tensors: {status: partial, checks: {values: ok, dtype: wrong_dtype, no_more_than_shown: wrong_value}}

def save_tensors(tensors, path):
    torch.save({name: tensor.double() for name, tensor in tensors.items()}, path)


# %% save_elsewhere
# Writes to a place of its own.
# expect:
#   questions:
#     save_tensors: {status: failed, code: missing_file}

def save_tensors(tensors, path):
    torch.save({name: tensor.clone() for name, tensor in tensors.items()}, "tensors.pt")


# %% save_halves
# Saves everything in half precision.
# expect:
#   questions:
#     save_tensors: {status: failed, checks: {values: wrong_value}}

def save_tensors(tensors, path):
    torch.save({name: tensor.half() for name, tensor in tensors.items()}, path)


# %% save_list
# Saves the tensors without their names.
# expect:
#   questions:
#     save_tensors: {status: failed, code: unreadable_file}

def save_tensors(tensors, path):
    torch.save(list(tensors.values()), path)


# %% save_nothing
# Writes nothing.
# expect:
#   questions:
#     save_tensors: {status: failed, code: missing_file}

def save_tensors(tensors, path):
    return path


# %% save_pickle
# Pickles, which torch does not read.
# expect:
#   questions:
#     save_tensors: {status: failed, code: unreadable_file}

import pickle


def save_tensors(tensors, path):
    with open(path, "wb") as file:
        pickle.dump(tensors, file)


# %% save_storages
# Saves views, and with each the whole storage behind it.
# expect:
#   questions:
#     save_tensors: {status: partial, checks: {values: ok, dtype: ok, no_more_than_shown: wrong_value}}

def save_tensors(tensors, path):
    torch.save(tensors, path)


# %% save_views_detached
# detach() is a view as well.
# expect:
#   mistakes: [save_storages]
#   questions:
#     save_tensors: {status: partial, checks: {values: ok, dtype: ok, no_more_than_shown: wrong_value}}

def save_tensors(tensors, path):
    torch.save({name: tensor.detach() for name, tensor in tensors.items()}, path)


# %% save_with_code
# Saves an object of a class of its own.
# expect:
#   questions:
#     save_tensors: {status: failed, code: unreadable_file}

class Saved:
    def __init__(self, tensors):
        self.tensors = tensors


def save_tensors(tensors, path):
    torch.save(Saved(tensors), path)
