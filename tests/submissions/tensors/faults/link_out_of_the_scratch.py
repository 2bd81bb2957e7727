# Symbolic links to files of the machine that grades, in the place of files.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: missing_file}
#     save_tensors: {status: failed, code: missing_file}

import os


def save_hdf5(tensors, path):
    os.symlink(os.__file__, path)


def save_tensors(tensors, path):
    os.symlink("/root/.bashrc", path)
