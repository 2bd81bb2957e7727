# Saves an object of a class of its own.
# expect:
#   questions:
#     save_tensors: {status: failed, code: unreadable_file}

import torch


class Saved:
    def __init__(self, tensors):
        self.tensors = tensors


def save_tensors(tensors, path):
    torch.save(Saved(tensors), path)
