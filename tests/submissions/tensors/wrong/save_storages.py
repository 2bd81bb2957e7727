# Saves views, and with each the whole storage behind it.
# expect:
#   questions:
#     save_tensors: {status: partial, checks: {values: ok, dtype: ok, no_more_than_shown: wrong_value}}

import torch


def save_tensors(tensors, path):
    torch.save(tensors, path)
