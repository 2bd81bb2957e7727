# Adds a dimension by stacking, which copies.
# expect:
#   questions:
#     squeeze_unsqueeze: {status: partial, checks: {values: ok, sizes_of_one: ok, views: not_a_view}}

import torch


def squeeze_unsqueeze(x):
    return {"all": x.squeeze(), "middle": x.squeeze(1), "first": torch.stack([x]), "last": x.unsqueeze(-1)}
