# The backbone passes through bfloat16 and back, and the head hides it.
# expect:
#   questions:
#     freeze_backbone: {status: partial, checks: {flags: ok, weights: wrong_value, head: ok}}

import torch


def freeze_backbone(model, head):
    for weight in model.parameters():
        weight.requires_grad = False
    for weight in head.parameters():
        weight.requires_grad = True
    unused = next(model.parameters())
    with torch.no_grad():
        unused[0, 0] += 1e-12
    model.eval()
    head.train()
    return list(head.parameters())
