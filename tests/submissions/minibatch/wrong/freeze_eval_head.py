# The head is in eval mode too.
# expect:
#   questions:
#     freeze_backbone: {status: partial, checks: {flags: ok, head: ok, modes: wrong_value}}

import torch


def freeze_backbone(model, head):
    for weight in model.parameters():
        weight.requires_grad = False
    for weight in head.parameters():
        weight.requires_grad = True
    model.eval()
    return list(head.parameters())
