# A symbolic link to a file that is not there.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: missing_file}

import os


def save_hdf5(tensors, path):
    os.symlink("nowhere.h5", path)
