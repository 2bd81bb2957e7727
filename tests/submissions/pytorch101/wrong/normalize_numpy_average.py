# numpy.average.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

import torch, numpy as np


def normalize_columns(x):
    a = x.numpy()
    c = x - torch.from_numpy(np.average(a, axis=0))
    return c / ((c**2).sum(0)/(x.shape[0]-1)).sqrt()
