# What of the head was frozen before stays so.
# expect:
#   questions:
#     freeze_backbone: {status: failed, checks: {flags: wrong_value, head: wrong_value, returned: requirement_not_met}}

import torch


def freeze_backbone(model, head):
    own = {id(weight) for weight in head.parameters()}
    for weight in model.parameters():
        if id(weight) not in own:
            weight.requires_grad = False
    model.eval()
    head.train()
    return list(head.parameters())
