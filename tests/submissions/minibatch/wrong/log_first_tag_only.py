# Only the first tag.
# expect:
#   questions:
#     log_training: {status: failed, checks: {values: wrong_type}}

import torch


def log_training(writer, history):
    for tag, values in history.items():
        for epoch, value in enumerate(values):
            writer.add_scalar(tag, value, epoch)
        break
    writer.flush()
