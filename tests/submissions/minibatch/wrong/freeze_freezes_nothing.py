# The optimiser gets the head's weights, and that is all.
# expect:
#   questions:
#     freeze_backbone: {status: partial, checks: {flags: wrong_value, returned: ok, modes: wrong_value}}

import torch


def freeze_backbone(model, head):
    for weight in model.parameters():
        pass
    for weight in head.parameters():
        weight.requires_grad = True
    return list(head.parameters())
