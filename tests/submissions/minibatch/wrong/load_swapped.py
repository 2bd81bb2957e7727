# Loss and epoch swapped.
# expect:
#   questions:
#     load_checkpoint: {status: partial, checks: {told: wrong_value, model: ok}}

import torch


def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    net.load_state_dict(state["model_state_dict"])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["loss"], state["epoch"]
