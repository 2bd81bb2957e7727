# Reads one dataset.
# expect:
#   questions:
#     load_hdf5: {status: failed, checks: {values: wrong_type}}

import h5py
import torch


def load_hdf5(path):
    with h5py.File(path, "r") as file:
        return {"first": torch.from_numpy(file["first"][...])}
