# By way of a list.
# expect:
#   questions:
#     as_numpy: {status: partial, checks: {values: ok, an_array: ok, shared: not_a_view, gradients: not_a_view}}

import numpy as np
import torch


def as_numpy(x):
    return np.array(x.tolist())
