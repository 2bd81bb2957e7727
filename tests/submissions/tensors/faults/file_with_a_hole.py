# A file of a terabyte that takes no room.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: raised}

import os


def save_hdf5(tensors, path):
    with open(path, "wb"):
        pass
    os.truncate(path, 2**40)
