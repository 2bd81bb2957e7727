# Closes a writer that others go on with.
# expect:
#   questions:
#     log_training: {status: partial, checks: {values: ok, steps: ok, stays_open: wrong_value}}

def log_training(writer, history):
    for tag, values in history.items():
        for epoch, value in enumerate(values):
            writer.add_scalar(tag, value, epoch)
    writer.close()
