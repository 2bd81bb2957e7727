# BatchNorm's statistics are left out.
# expect:
#   questions:
#     load_checkpoint: {status: partial, checks: {told: ok, model: wrong_value}}

import torch


def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    with torch.no_grad():
        for name, weight in net.named_parameters():
            weight.copy_(state["model_state_dict"][name])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["epoch"], state["loss"]
