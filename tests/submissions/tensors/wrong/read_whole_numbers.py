# Rounds.
# expect:
#   questions:
#     load_hdf5: {status: failed, checks: {values: wrong_value}}

import h5py
import torch


def load_hdf5(path):
    with h5py.File(path, "r") as file:
        return {name: torch.from_numpy(file[name][...]).round() for name in file}
