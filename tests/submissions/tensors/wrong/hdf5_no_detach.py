# Forgets detach().
# expect:
#   questions:
#     save_hdf5: {status: failed, code: raised}

import h5py
import torch


def save_hdf5(tensors, path):
    with h5py.File(path, "w") as file:
        for name, tensor in tensors.items():
            file[name] = tensor.numpy()
