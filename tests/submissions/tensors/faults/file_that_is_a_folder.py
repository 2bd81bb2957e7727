# Makes a folder where a file is due.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: missing_file}

import os


def save_hdf5(tensors, path):
    os.makedirs(path)
