# Puts the new dimension before the last one.
# expect:
#   questions:
#     squeeze_unsqueeze: {status: failed, checks: {values: wrong_shape}}

import torch


def squeeze_unsqueeze(x):
    return {"all": x.squeeze(), "middle": x.squeeze(1), "first": x.unsqueeze(0), "last": x.unsqueeze(2)}
