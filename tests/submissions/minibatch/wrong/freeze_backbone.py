# Wrong ways to write freeze_backbone. docs/authoring.md explains the cells.

import torch


# %% freeze_eval_head
# The head is in eval mode too.
# expect:
#   questions:
#     freeze_backbone: {status: partial, checks: {flags: ok, head: ok, modes: wrong_value}}

def freeze_backbone(model, head):
    for weight in model.parameters():
        weight.requires_grad = False
    for weight in head.parameters():
        weight.requires_grad = True
    model.eval()
    return list(head.parameters())


# %% freeze_flags_only
# The flags are set, and BatchNorm's statistics move all the same.
# expect:
#   questions:
#     freeze_backbone: {status: partial, checks: {flags: ok, weights: ok, statistics: wrong_value, modes: wrong_value}}

def freeze_backbone(model, head):
    for weight in model.parameters():
        weight.requires_grad = False
    for weight in head.parameters():
        weight.requires_grad = True
    return list(head.parameters())


# %% freeze_freezes_all
# The head is frozen too.
# expect:
#   questions:
#     freeze_backbone: {status: partial, code: raised}

def freeze_backbone(model, head):
    for weight in model.parameters():
        weight.requires_grad = False
    for weight in head.parameters():
        weight.requires_grad = False
    model.eval()
    head.train()
    return list(head.parameters())


# %% freeze_freezes_nothing
# The optimiser gets the head's weights, and that is all.
# expect:
#   questions:
#     freeze_backbone: {status: partial, checks: {flags: wrong_value, returned: ok, modes: wrong_value}}

def freeze_backbone(model, head):
    for weight in model.parameters():
        pass
    for weight in head.parameters():
        weight.requires_grad = True
    return list(head.parameters())


# %% freeze_freezes_the_head
# Head and backbone mixed up.
# expect:
#   questions:
#     freeze_backbone: {status: failed, checks: {flags: wrong_value}}

def freeze_backbone(model, head):
    for weight in model.parameters():
        weight.requires_grad = None or 1 > 0
    for weight in head.parameters():
        weight.requires_grad = False
    model.eval()
    head.train()
    return [weight for weight in model.parameters() if weight.requires_grad]


# %% freeze_head_stays_frozen
# What of the head was frozen before stays so.
# expect:
#   questions:
#     freeze_backbone: {status: partial, points: 2, checks: {flags: wrong_value, head: wrong_value, returned: requirement_not_met}}

def freeze_backbone(model, head):
    own = {id(weight) for weight in head.parameters()}
    for weight in model.parameters():
        if id(weight) not in own:
            weight.requires_grad = False
    model.eval()
    head.train()
    return list(head.parameters())


# %% freeze_resets_statistics
# BatchNorm's statistics are reset.
# expect:
#   questions:
#     freeze_backbone: {status: partial, checks: {flags: ok, weights: ok, statistics: wrong_value}}

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


# %% freeze_returns_all
# Returns all weights.
# expect:
#   questions:
#     freeze_backbone: {status: partial, checks: {flags: ok, returned: wrong_type}}

def freeze_backbone(model, head):
    for weight in model.parameters():
        weight.requires_grad = False
    for weight in head.parameters():
        weight.requires_grad = True
    model.eval()
    head.train()
    return list(model.parameters())


# %% freeze_rounds_backbone
# The backbone passes through bfloat16 and back, and the head hides it.
# expect:
#   questions:
#     freeze_backbone: {status: partial, checks: {flags: ok, weights: wrong_value, head: ok}}

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


# %% freeze_trains_backbone
# The backbone's weights are nudged on the way.
# expect:
#   questions:
#     freeze_backbone: {status: partial, checks: {flags: ok, weights: requirement_not_met, head: wrong_value}}

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


# %% freeze_all_but_the_layers
# The layers of the head are in train mode, the head itself is not.
# expect:
#   questions:
#     freeze_backbone: {status: partial, checks: {flags: ok, returned: ok, weights: ok, head: ok, statistics: ok, modes: wrong_value}}

def freeze_backbone(model, head):
    layers = set(head)
    for module in model.modules():
        module.training = module in layers
    model.requires_grad_(False)
    head.requires_grad_(True)
    return list(head.parameters())
