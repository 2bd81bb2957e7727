# Weights pass through half precision.
# expect:
#   questions:
#     load_checkpoint: {status: partial, checks: {told: ok, model: wrong_value, resumes: wrong_value}}

import torch


def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    net.load_state_dict({k: v.bfloat16() for k, v in state["model_state_dict"].items()})
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["epoch"], state["loss"]
