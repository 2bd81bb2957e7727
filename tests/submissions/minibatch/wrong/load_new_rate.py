# Loads the optimiser, and sets its rate anew.
# expect:
#   questions:
#     load_checkpoint: {status: partial, checks: {model: ok, resumes: wrong_value}}

import torch


def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    net.load_state_dict(state["model_state_dict"])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    for group in optimizer.param_groups:
        group["lr"] = 0.1
    return state["epoch"], state["loss"]
