# The event file is written over with noise: its reader finds nothing in it.
# expect:
#   questions:
#     log_training: {status: failed}

import os

import torch


def log_training(writer, history):
    writer.flush()
    for name in os.listdir(writer.log_dir):
        with open(os.path.join(writer.log_dir, name), "wb") as file:
            file.write(bytes(range(256)) * 64)
