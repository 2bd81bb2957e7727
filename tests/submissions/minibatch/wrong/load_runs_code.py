# Trusts the file, and runs what is in it.
# expect:
#   questions:
#     load_checkpoint: {status: partial, checks: {model: ok, runs_nothing: wrong_value}}

import torch


def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=False)
    net.load_state_dict(state["model_state_dict"])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["epoch"], state["loss"]
