# Wrong ways to write log_training. docs/authoring.md explains the cells.

import torch


# %% log_closes_the_writer
# Closes a writer that others go on with.
# expect:
#   questions:
#     log_training: {status: partial, checks: {values: ok, steps: ok, stays_open: wrong_value}}

def log_training(writer, history):
    for tag, values in history.items():
        for epoch, value in enumerate(values):
            writer.add_scalar(tag, value, epoch)
    writer.close()


# %% log_first_tag_only
# Only the first tag.
# expect:
#   mistakes: [log_first_tag_alone]
#   questions:
#     log_training: {status: partial, points: 2, checks: {values: wrong_type}}

def log_training(writer, history):
    for tag, values in history.items():
        for epoch, value in enumerate(values):
            writer.add_scalar(tag, value, epoch)
        break
    writer.flush()


# %% log_from_one
# The first epoch is step 1.
# expect:
#   questions:
#     log_training: {status: partial, checks: {values: ok, steps: wrong_value}}

def log_training(writer, history):
    for tag, values in history.items():
        for epoch, value in enumerate(values, 1):
            writer.add_scalar(tag, value, epoch)
    writer.flush()


# %% log_last_only
# Only the last epoch of each tag.
# expect:
#   questions:
#     log_training: {status: partial, points: 1.6, checks: {values: wrong_type, steps: wrong_type}}

def log_training(writer, history):
    for tag, values in history.items():
        writer.add_scalar(tag, values[-1], len(values) - 1)
    writer.flush()


# %% log_no_steps
# Without steps.
# expect:
#   questions:
#     log_training: {status: partial, checks: {values: ok, steps: wrong_value}}

def log_training(writer, history):
    for tag, values in history.items():
        for epoch, value in enumerate(values):
            writer.add_scalar(tag, value)
    writer.flush()


# %% log_not_flushed
# What was logged still waits in memory.
# expect:
#   questions:
#     log_training: {status: failed}

def log_training(writer, history):
    for tag, values in history.items():
        for epoch, value in enumerate(values):
            writer.add_scalar(tag, value, epoch)


# %% log_other_tags
# Every tag gets a prefix.
# expect:
#   questions:
#     log_training: {status: partial, checks: {values: wrong_type, steps: wrong_type}}

def log_training(writer, history):
    for tag, values in history.items():
        for epoch, value in enumerate(values):
            writer.add_scalar('run/' + tag, value, epoch)
    writer.flush()


# %% log_percent
# Hundred times the numbers.
# expect:
#   questions:
#     log_training: {status: partial, checks: {values: wrong_value, steps: ok}}

def log_training(writer, history):
    for tag, values in history.items():
        for epoch, value in enumerate(values):
            writer.add_scalar(tag, 100 * value, epoch)
    writer.flush()
