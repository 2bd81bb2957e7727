# Makes a pipe where a file is due: who opens it waits for ever. The walls refuse to make one.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: raised}

import os


def save_hdf5(tensors, path):
    os.mkfifo(path)
