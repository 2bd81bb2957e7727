# The flags are set, and BatchNorm's statistics move all the same.
# expect:
#   questions:
#     freeze_backbone: {status: partial, checks: {flags: ok, weights: ok, statistics: wrong_value, modes: wrong_value}}

import torch


def freeze_backbone(model, head):
    for weight in model.parameters():
        weight.requires_grad = False
    for weight in head.parameters():
        weight.requires_grad = True
    return list(head.parameters())
