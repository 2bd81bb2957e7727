# Hundred times the numbers.
# expect:
#   questions:
#     log_training: {status: partial, checks: {values: wrong_value, steps: ok}}

import torch


def log_training(writer, history):
    for tag, values in history.items():
        for epoch, value in enumerate(values):
            writer.add_scalar(tag, 100 * value, epoch)
    writer.flush()
