# Writes bytes that are no HDF5 file.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: unreadable_file}

def save_hdf5(tensors, path):
    with open(path, "wb") as file:
        file.write(bytes(range(256)) * 40)
