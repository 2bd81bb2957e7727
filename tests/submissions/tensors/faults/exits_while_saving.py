# Ends the process in the middle of a question.
# expect:
#   questions:
#     save_tensors: {status: failed, code: crashed}
#     load_tensors: {status: passed}

import os

import torch


def save_tensors(tensors, path):
    torch.save(tensors, path)
    os._exit(0)


def load_tensors(path):
    return torch.load(path, weights_only=True)
