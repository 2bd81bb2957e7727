# Wrong ways to write build_net. docs/authoring.md explains the cells.

import torch


# %% net_frozen
# No weight can be trained.
# expect:
#   questions:
#     build_net: {status: partial, checks: {outputs: ok, trainable: raised}}

def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1)).requires_grad_(False)


# %% net_half_frozen
# The first layer cannot be trained.
# expect:
#   questions:
#     build_net: {status: partial, checks: {outputs: ok, trainable: wrong_value}}

def build_net():
    net = torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1))
    net[0].requires_grad_(False)
    return net


# %% net_no_bias
# No biases.
# expect:
#   questions:
#     build_net: {status: partial, points: 2.8, checks: {shapes: wrong_type}}

def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 30, bias=False), torch.nn.ReLU(), torch.nn.Linear(30, 1))


# %% net_no_relu
# No ReLU: two linear layers are one.
# expect:
#   questions:
#     build_net: {status: partial, checks: {shapes: ok, outputs: wrong_value}}

def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.Linear(30, 1))


# %% net_one_for_all
# Every call returns the same net.
# expect:
#   questions:
#     build_net: {status: partial, checks: {shapes: ok, random: wrong_value}}

NET = torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1))


def build_net():
    return NET


# %% net_sigmoid
# A sigmoid at the end.
# expect:
#   questions:
#     build_net: {status: partial, checks: {shapes: ok, outputs: wrong_value}}

def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1), torch.nn.Sigmoid())


# %% net_thirty_two
# 32 hidden numbers.
# expect:
#   questions:
#     build_net: {status: failed, checks: {shapes: wrong_value}}

def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))


# %% net_two_outputs
# Two outputs.
# expect:
#   questions:
#     build_net: {status: partial, checks: {shapes: wrong_value, outputs: requirement_not_met}}

def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 2))


# %% net_zeros
# All weights begin at zero, and never learn to differ.
# expect:
#   questions:
#     build_net: {status: partial, checks: {outputs: ok, random: wrong_value}}

def build_net():
    net = torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1))
    for weight in net.parameters():
        torch.nn.init.zeros_(weight)
    return net
