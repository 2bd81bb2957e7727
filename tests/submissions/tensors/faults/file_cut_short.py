# An HDF5 file without its second half.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: unreadable_file}

import os

import h5py


def save_hdf5(tensors, path):
    with h5py.File(path, "w") as file:
        for name, tensor in tensors.items():
            file[name] = tensor.detach().numpy()
    os.truncate(path, os.path.getsize(path) // 2)
