# Converts everything to float32.
# expect:
#   questions:
#     load_hdf5: {status: partial, checks: {values: ok, dtype: wrong_dtype}}

import h5py
import torch


def load_hdf5(path):
    with h5py.File(path, "r") as file:
        return {name: torch.tensor(file[name][...], dtype=torch.float32) for name in file}
