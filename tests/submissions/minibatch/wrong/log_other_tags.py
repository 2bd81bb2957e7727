# Every tag gets a prefix.
# expect:
#   questions:
#     log_training: {status: failed, checks: {values: wrong_type, steps: wrong_type}}

import torch


def log_training(writer, history):
    for tag, values in history.items():
        for epoch, value in enumerate(values):
            writer.add_scalar('run/' + tag, value, epoch)
    writer.flush()
