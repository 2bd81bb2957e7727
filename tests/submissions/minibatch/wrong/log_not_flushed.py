# What was logged still waits in memory.
# expect:
#   questions:
#     log_training: {status: failed}

import torch


def log_training(writer, history):
    for tag, values in history.items():
        for epoch, value in enumerate(values):
            writer.add_scalar(tag, value, epoch)
