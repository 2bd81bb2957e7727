# BatchNorm's statistics are reset.
# expect:
#   questions:
#     freeze_backbone: {status: partial, checks: {flags: ok, weights: ok, statistics: wrong_value}}

import torch


def freeze_backbone(model, head):
    for weight in model.parameters():
        weight.requires_grad = False
    for weight in head.parameters():
        weight.requires_grad = True
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm1d):
            module.momentum = 0.0
            module.num_batches_tracked += 1
    model.eval()
    head.train()
    return list(head.parameters())
