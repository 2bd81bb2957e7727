# An HDF5 file whose entries are links to one another.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: unreadable_file}

import h5py


def save_hdf5(tensors, path):
    with h5py.File(path, "w") as file:
        names = list(tensors)
        for name, other in zip(names, names[1:] + names[:1]):
            file[name] = h5py.SoftLink("/" + other)
