# Returns datasets of a closed file.
# expect:
#   questions:
#     load_hdf5: {status: failed, code: wrong_type}

import h5py
import torch


def load_hdf5(path):
    with h5py.File(path, "r") as file:
        return {name: file[name] for name in file}
