# Wrong ways to write save_hdf5. docs/authoring.md explains the cells.

import h5py
import torch


# %% hdf5_by_torch
# Writes torch's format.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: unreadable_file}

def save_hdf5(tensors, path):
    torch.save({name: tensor.clone() for name, tensor in tensors.items()}, path)


# %% hdf5_doubles
# Writes everything as float64.
# expect:
#   questions:
#     save_hdf5: {status: partial, checks: {values: ok, dtype: wrong_dtype}}

def save_hdf5(tensors, path):
    with h5py.File(path, "w") as file:
        for name, tensor in tensors.items():
            file[name] = tensor.detach().double().numpy()


# %% hdf5_flat
# Writes vectors.
# expect:
#   questions:
#     save_hdf5: {status: partial, checks: {values: wrong_shape}}

def save_hdf5(tensors, path):
    with h5py.File(path, "w") as file:
        for name, tensor in tensors.items():
            file[name] = tensor.detach().flatten().numpy()


# %% hdf5_halves
# Writes half precision.
# expect:
#   questions:
#     save_hdf5: {status: partial, checks: {values: wrong_value}}

def save_hdf5(tensors, path):
    with h5py.File(path, "w") as file:
        for name, tensor in tensors.items():
            file.create_dataset(name, data=tensor.detach().numpy(), dtype="f2")


# %% hdf5_last_only
# Opens the file anew for each tensor, and so keeps the last.
# expect:
#   questions:
#     save_hdf5: {status: partial, checks: {values: wrong_type}}

def save_hdf5(tensors, path):
    for name, tensor in tensors.items():
        with h5py.File(path, "w") as file:
            file[name] = tensor.detach().numpy()


# %% hdf5_left_open
# Leaves the file open, and what it holds in memory.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: unreadable_file}

KEPT = []


def save_hdf5(tensors, path):
    file = h5py.File(path, "w")
    for name, tensor in tensors.items():
        file[name] = tensor.detach().numpy()
    KEPT.append(file)


# %% hdf5_no_detach
# Forgets detach().
# expect:
#   questions:
#     save_hdf5: {status: partial, code: raised}

def save_hdf5(tensors, path):
    with h5py.File(path, "w") as file:
        for name, tensor in tensors.items():
            file[name] = tensor.numpy()


# %% hdf5_one_group
# Puts the datasets into a group.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: unreadable_file}

def save_hdf5(tensors, path):
    with h5py.File(path, "w") as file:
        for name, tensor in tensors.items():
            file["tensors/" + name] = tensor.detach().numpy()
