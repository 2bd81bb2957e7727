# A symbolic link to a device that has no end.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: missing_file}

import os


def save_hdf5(tensors, path):
    os.symlink("/dev/zero", path)
