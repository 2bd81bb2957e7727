# layer_norm on the transposed matrix: mean and deviation at once.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

import torch
import torch.nn.functional as F


def normalize_columns(x):
    m = x.shape[0]
    return F.layer_norm(x.t(), (m,), eps=0.0).t() * ((m-1)/m)**0.5
