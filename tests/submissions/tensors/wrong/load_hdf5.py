# Wrong ways to write load_hdf5. docs/authoring.md explains the cells.

import h5py
import torch


# %% read_datasets
# Returns datasets of a closed file.
# expect:
#   questions:
#     load_hdf5: {status: failed, code: wrong_type}

def load_hdf5(path):
    with h5py.File(path, "r") as file:
        return {name: file[name] for name in file}


# %% read_first
# Reads one dataset.
# expect:
#   questions:
#     load_hdf5: {status: failed, checks: {values: wrong_type}}

def load_hdf5(path):
    with h5py.File(path, "r") as file:
        return {"first": torch.from_numpy(file["first"][...])}


# %% read_float32
# Converts everything to float32.
# expect:
#   questions:
#     load_hdf5: {status: partial, checks: {values: ok, dtype: wrong_dtype}}

def load_hdf5(path):
    with h5py.File(path, "r") as file:
        return {name: torch.tensor(file[name][...], dtype=torch.float32) for name in file}


# %% read_whole_numbers
# Rounds.
# expect:
#   questions:
#     load_hdf5: {status: partial, checks: {values: wrong_value}}

def load_hdf5(path):
    with h5py.File(path, "r") as file:
        return {name: torch.from_numpy(file[name][...]).round() for name in file}
