# Index lists copy: the third column has memory of its own.
# expect:
#   questions:
#     slice_indexing_practice: {status: partial, checks: {values: ok, views: not_a_view}}

import torch


def slice_indexing_practice(x):
    return x[-1], x[:, [2]], x[:2, :3], x[::2, 1::2]
