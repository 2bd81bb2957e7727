# The head is frozen too.
# expect:
#   questions:
#     freeze_backbone: {status: failed, code: raised}

import torch


def freeze_backbone(model, head):
    for weight in model.parameters():
        weight.requires_grad = False
    for weight in head.parameters():
        weight.requires_grad = False
    model.eval()
    head.train()
    return list(head.parameters())
