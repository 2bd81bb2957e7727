# Head and backbone mixed up.
# expect:
#   questions:
#     freeze_backbone: {status: failed, checks: {flags: wrong_value}}

import torch


def freeze_backbone(model, head):
    for weight in model.parameters():
        weight.requires_grad = None or 1 > 0
    for weight in head.parameters():
        weight.requires_grad = False
    model.eval()
    head.train()
    return [weight for weight in model.parameters() if weight.requires_grad]
