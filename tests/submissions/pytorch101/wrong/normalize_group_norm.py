# group_norm with a group for each column.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

import torch
import torch.nn.functional as F


def normalize_columns(x):
    m = x.shape[0]
    return F.group_norm(x.t()[None], x.shape[1], eps=0.0)[0].t() * ((m-1)/m)**0.5
