# The backbone's weights are nudged on the way.
# expect:
#   questions:
#     freeze_backbone: {status: partial, checks: {flags: ok, weights: requirement_not_met, head: wrong_value}}

import torch


def freeze_backbone(model, head):
    for weight in model.parameters():
        weight.requires_grad = False
    for weight in head.parameters():
        weight.requires_grad = True
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(1.01)
    model.eval()
    head.train()
    return list(head.parameters())
