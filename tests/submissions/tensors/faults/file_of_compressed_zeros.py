# An HDF5 file of a few megabytes that holds 8 GB, and one dataset of which is too large by little.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: unreadable_file}

import zlib

import h5py
import numpy as np

CHUNK = 2**22


def save_hdf5(tensors, path):
    zeros = zlib.compress(np.zeros(CHUNK, "f4").tobytes())
    with h5py.File(path, "w") as file:
        for number, name in enumerate(tensors):
            chunks = (16, 16, 470)[number]
            dataset = file.create_dataset(
                name, (chunks * CHUNK,), "f4", chunks=(CHUNK,), compression="gzip"
            )
            for start in range(chunks):
                dataset.id.write_direct_chunk((start * CHUNK,), zeros)
