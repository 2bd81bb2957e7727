# Drops the middle one where all are meant.
# expect:
#   questions:
#     squeeze_unsqueeze: {status: partial, checks: {values: ok, sizes_of_one: wrong_shape, views: ok}}

import torch


def squeeze_unsqueeze(x):
    return {"all": x.squeeze(1), "middle": x.squeeze(1), "first": x.unsqueeze(0), "last": x.unsqueeze(-1)}
