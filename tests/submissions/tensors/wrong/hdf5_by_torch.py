# Writes torch's format.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: unreadable_file}

import h5py
import torch


def save_hdf5(tensors, path):
    torch.save({name: tensor.clone() for name, tensor in tensors.items()}, path)
