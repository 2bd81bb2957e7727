# Saves the tensors without their names.
# expect:
#   questions:
#     save_tensors: {status: failed, code: unreadable_file}

import torch


def save_tensors(tensors, path):
    torch.save(list(tensors.values()), path)
