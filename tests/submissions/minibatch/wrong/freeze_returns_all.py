# Returns all weights.
# expect:
#   questions:
#     freeze_backbone: {status: partial, checks: {flags: ok, returned: wrong_type}}

import torch


def freeze_backbone(model, head):
    for weight in model.parameters():
        weight.requires_grad = False
    for weight in head.parameters():
        weight.requires_grad = True
    model.eval()
    head.train()
    return list(model.parameters())
