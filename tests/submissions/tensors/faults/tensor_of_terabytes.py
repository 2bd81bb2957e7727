# A tensor of one entry in memory and four terabytes to whoever writes it out.
# expect:
#   questions:
#     save_tensors: {status: failed, checks: {values: wrong_type}}

import torch


def save_tensors(tensors, path):
    torch.save({name: torch.zeros(1).expand(2**40) for name in tensors}, path)
