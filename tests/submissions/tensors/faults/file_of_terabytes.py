# A dataset of a few hundred bytes that stands for four terabytes.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: unreadable_file}

import h5py


def save_hdf5(tensors, path):
    with h5py.File(path, "w") as file:
        for name in tensors:
            file.create_dataset(name, (2**40,), "f4", chunks=(2**20,), compression="gzip")
