# Only the last epoch of each tag.
# expect:
#   questions:
#     log_training: {status: failed, checks: {values: wrong_type, steps: wrong_type}}

import torch


def log_training(writer, history):
    for tag, values in history.items():
        writer.add_scalar(tag, values[-1], len(values) - 1)
    writer.flush()
