# A generator is a loop too.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, checks: {sum: ok, none: ok, no_loops: loop_found}}

import torch


def sum_positive_entries(x):
    return sum(n for n in x.flatten().tolist() if n > 0)
