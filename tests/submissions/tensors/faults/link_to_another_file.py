# An HDF5 file that points at a file of the machine that reads it.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: unreadable_file}

import h5py


def save_hdf5(tensors, path):
    with h5py.File(path, "w") as file:
        for name in tensors:
            file[name] = h5py.ExternalLink("/etc/passwd", "/")
