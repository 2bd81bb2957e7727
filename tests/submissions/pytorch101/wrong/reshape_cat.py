# Cuts and joins, where only rearranging was asked for.
# expect:
#   questions:
#     reshape_practice: {status: partial, checks: {values: ok, only_rearranges: forbidden_call}}

import torch


def reshape_practice(x):
    return torch.cat([x[:12].view(3, 4), x[12:].view(3, 4)], dim=1)
