# Right, and sleeps a little less than the limit in each call.
# expect:
#   questions:
#     add_row: {status: failed, code: timed_out}
#     add_column: {status: failed, code: timed_out, says: with all calls before it}

import time


def add_row(x, v):
    time.sleep(4.5)
    return x + v


def add_column(x, w):
    time.sleep(4.5)
    return x + w[:, None]
