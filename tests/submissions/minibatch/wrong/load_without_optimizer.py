# The optimiser starts anew.
# expect:
#   questions:
#     load_checkpoint: {status: partial, checks: {model: ok, resumes: wrong_value}}

import torch


def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    net.load_state_dict(state["model_state_dict"])
    return state["epoch"], state["loss"]
