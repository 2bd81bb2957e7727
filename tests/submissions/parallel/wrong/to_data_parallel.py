# Wrong ways to write to_data_parallel. docs/authoring.md explains the cells.

from torch import nn


# %% data_parallel_gathered_on_the_second
# Results are gathered on cuda:1.
# expect:
#   questions:
#     to_data_parallel: {status: partial, checks: {outputs: ok, gradients: ok, placed: wrong_device, ran_on: ok}}

def to_data_parallel(model):
    return nn.DataParallel(model.to("cuda:0"), output_device=1)


# %% data_parallel_inputs_as_lists
# The batch leaves torch before it is spread, and comes back as a tensor of numbers from a list.
# expect:
#   questions:
#     to_data_parallel: {status: partial, checks: {outputs: ok, gradients: ok, again: not_repeated, placed: requirement_not_met, ran_on: requirement_not_met}}

import torch


class FromLists(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.parallel = nn.DataParallel(model.to("cuda:0"))

    def forward(self, x):
        return self.parallel(torch.tensor(x.tolist()))


def to_data_parallel(model):
    return FromLists(model)


# %% data_parallel_model_left_on_the_cpu
# The model was not moved to the first GPU.
# expect:
#   questions:
#     to_data_parallel: {status: partial, code: raised}

def to_data_parallel(model):
    return nn.DataParallel(model)


# %% data_parallel_one_gpu
# One GPU does it all.
# expect:
#   questions:
#     to_data_parallel: {status: partial, checks: {outputs: ok, gradients: ok, placed: ok, ran_on: ran_elsewhere}}

def to_data_parallel(model):
    return nn.DataParallel(model.to("cuda:0"), device_ids=[0])


# %% data_parallel_only_moved
# The model is moved to cuda:0 and nothing more: inputs stay on the CPU.
# expect:
#   questions:
#     to_data_parallel: {status: partial, code: raised}

def to_data_parallel(model):
    return model.to("cuda:0")


# %% data_parallel_parts_out_of_order
# Results of the last GPU come first.
# expect:
#   questions:
#     to_data_parallel: {status: partial, checks: {outputs: wrong_value, gradients: wrong_value, placed: requirement_not_met, ran_on: requirement_not_met}}

import torch
from torch.nn.parallel import gather, parallel_apply, replicate, scatter


class Spread(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model.to("cuda:0")

    def forward(self, x):
        devices = list(range(torch.cuda.device_count()))
        inputs = scatter(x, devices)
        outputs = parallel_apply(replicate(self.model, devices[: len(inputs)]), inputs)
        return gather(outputs[::-1], 0)


def to_data_parallel(model):
    return Spread(model)


# %% data_parallel_results_of_one
# Every GPU computes its part, and the results of the first are all that is returned, twice.
# expect:
#   questions:
#     to_data_parallel: {status: partial, checks: {outputs: wrong_value, gradients: wrong_value, placed: requirement_not_met, ran_on: requirement_not_met}}

import torch
from torch.nn.parallel import gather, parallel_apply, replicate, scatter


class Spread(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model.to("cuda:0")

    def forward(self, x):
        devices = list(range(torch.cuda.device_count()))
        outputs = parallel_apply(replicate(self.model, devices), scatter(x, devices))
        return gather([outputs[0], outputs[0].to("cuda:1")], 0)


def to_data_parallel(model):
    return Spread(model)


# %% data_parallel_trains_a_copy
# A copy is trained.
# expect:
#   questions:
#     to_data_parallel: {status: partial, checks: {outputs: ok, gradients: wrong_type, placed: wrong_device, ran_on: ok}}

import copy


def to_data_parallel(model):
    return nn.DataParallel(copy.deepcopy(model).to("cuda:0"))
