# The first epoch is step 1.
# expect:
#   questions:
#     log_training: {status: partial, checks: {values: ok, steps: wrong_value}}

import torch


def log_training(writer, history):
    for tag, values in history.items():
        for epoch, value in enumerate(values, 1):
            writer.add_scalar(tag, value, epoch)
    writer.flush()
