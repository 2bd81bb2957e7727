# Builds new tensors.
# expect:
#   questions:
#     squeeze_unsqueeze: {status: partial, checks: {values: ok, sizes_of_one: ok, views: not_a_view}}

import torch


def squeeze_unsqueeze(x):
    return {"all": x.squeeze().clone(), "middle": x.squeeze(1), "first": x.unsqueeze(0), "last": x.unsqueeze(-1)}
