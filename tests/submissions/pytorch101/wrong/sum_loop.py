# Entry by entry.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, checks: {sum: ok, none: ok, no_loops: loop_found}}

import torch


def sum_positive_entries(x):
    total = 0
    for number in x.flatten():
        if number > 0:
            total += number.item()
    return total
