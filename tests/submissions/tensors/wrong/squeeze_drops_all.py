# Drops every size of 1 where only the middle one is meant.
# expect:
#   questions:
#     squeeze_unsqueeze: {status: partial, checks: {values: ok, sizes_of_one: wrong_shape, views: ok}}

import torch


def squeeze_unsqueeze(x):
    return {"all": x.squeeze(), "middle": x.squeeze(), "first": x.unsqueeze(0), "last": x.unsqueeze(-1)}
