# Wrong ways to write load_checkpoint. docs/authoring.md explains the cells.

import torch


# %% load_net_unchanged
# The net keeps the weights that it has.
# expect:
#   questions:
#     load_checkpoint: {status: partial, checks: {told: ok, model: wrong_value, resumes: wrong_value}}

def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["epoch"], state["loss"]


# %% load_new_rate
# Loads the optimiser, and sets its rate anew.
# expect:
#   questions:
#     load_checkpoint: {status: partial, checks: {model: ok, resumes: wrong_value}}

def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    net.load_state_dict(state["model_state_dict"])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    for group in optimizer.param_groups:
        group["lr"] = 0.1
    return state["epoch"], state["loss"]


# %% load_next_epoch
# Returns the epoch to go on with.
# expect:
#   questions:
#     load_checkpoint: {status: partial, checks: {told: wrong_value, model: ok}}

def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    net.load_state_dict(state["model_state_dict"])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["epoch"] + 1, state["loss"]


# %% load_parameters_only
# BatchNorm's statistics are left out.
# expect:
#   questions:
#     load_checkpoint: {status: partial, checks: {told: ok, model: wrong_value}}

def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    with torch.no_grad():
        for name, weight in net.named_parameters():
            weight.copy_(state["model_state_dict"][name])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["epoch"], state["loss"]


# %% load_rounds
# Weights pass through half precision.
# expect:
#   questions:
#     load_checkpoint: {status: partial, checks: {told: ok, model: wrong_value, resumes: wrong_value}}

def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    net.load_state_dict({k: v.bfloat16() for k, v in state["model_state_dict"].items()})
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["epoch"], state["loss"]


# %% load_runs_code
# Trusts the file, and runs what is in it.
# expect:
#   questions:
#     load_checkpoint: {status: partial, checks: {model: ok, runs_nothing: wrong_value}}

def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=False)
    net.load_state_dict(state["model_state_dict"])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["epoch"], state["loss"]


# %% load_swapped
# Loss and epoch swapped.
# expect:
#   questions:
#     load_checkpoint: {status: partial, checks: {told: wrong_value, model: ok}}

def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    net.load_state_dict(state["model_state_dict"])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["loss"], state["epoch"]


# %% load_without_optimizer
# The optimiser starts anew.
# expect:
#   questions:
#     load_checkpoint: {status: partial, checks: {model: ok, resumes: wrong_value}}

def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    net.load_state_dict(state["model_state_dict"])
    return state["epoch"], state["loss"]


# %% load_by_path_alone
# Takes a Path for granted; text has no open().
# expect:
#   questions:
#     load_checkpoint: {status: partial, checks: {told: ok, model: ok, resumes: ok, runs_nothing: ok, path_as_text: wrong_value}}

def load_checkpoint(path, net, optimizer):
    with path.open("rb") as file:
        state = torch.load(file, weights_only=True)
    net.load_state_dict(state["model_state_dict"])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["epoch"], state["loss"]
