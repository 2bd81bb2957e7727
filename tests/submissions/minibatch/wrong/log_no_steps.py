# Without steps.
# expect:
#   questions:
#     log_training: {status: partial, checks: {values: ok, steps: wrong_value}}

import torch


def log_training(writer, history):
    for tag, values in history.items():
        for epoch, value in enumerate(values):
            writer.add_scalar(tag, value)
    writer.flush()
