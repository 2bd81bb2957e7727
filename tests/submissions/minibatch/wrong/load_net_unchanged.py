# The net keeps the weights that it has.
# expect:
#   questions:
#     load_checkpoint: {status: partial, checks: {told: ok, model: wrong_value, resumes: wrong_value}}

import torch


def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["epoch"], state["loss"]
