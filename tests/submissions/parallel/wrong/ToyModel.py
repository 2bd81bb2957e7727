# Wrong ways to write ToyModel. docs/authoring.md explains the cells.

import torch
from torch import nn


# %% toy_activation_not_moved
# The activation stays on cuda:0, where net2 is not.
# expect:
#   questions:
#     ToyModel: {status: partial, code: raised}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.relu(self.net1(x.to("cuda:0")))
        return self.net2(x)


# %% toy_all_on_one_device
# Everything is on cuda:0.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: ok, updated: ok, placed: wrong_device, ran_on: ran_elsewhere, moves: wrong_transfers, nothing_else_moves: ok}}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:0")

    def forward(self, x):
        x = torch.relu(self.net1(x.to("cuda:0")))
        return self.net2(x.to("cuda:0"))


# %% toy_all_on_the_cpu
# Nothing is on a GPU; the result is sent there at the end.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: ok, updated: ok, placed: requirement_not_met, ran_on: ran_elsewhere, moves: requirement_not_met, nothing_else_moves: requirement_not_met}}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10)
        self.net2 = nn.Linear(10, 5)

    def forward(self, x):
        x = torch.relu(self.net1(x.cpu()))
        return self.net2(x).to("cuda:1")


# %% toy_batch_by_numpy
# NumPy doubles the batch and torch halves it.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: ok, updated: ok, again: not_repeated}}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.from_numpy(x.cpu().numpy() * 2).to("cuda:0") / 2
        x = torch.relu(self.net1(x)).to("cuda:1")
        return self.net2(x)


# %% toy_cpu_product_then_cuda
# Layers are where they belong, and never compute: both products are made on the CPU.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: ok, updated: ok, placed: requirement_not_met, ran_on: ran_elsewhere, moves: requirement_not_met, nothing_else_moves: requirement_not_met}}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.relu(x.cpu() @ self.net1.weight.cpu().T + self.net1.bias.cpu())
        x = x @ self.net2.weight.cpu().T + self.net2.bias.cpu()
        return x.cuda(1)


# %% toy_detached
# The activation travels without its graph: nothing before it is trained.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: wrong_type, updated: wrong_value, placed: wrong_device, ran_on: ok, moves: ok, nothing_else_moves: ok}}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.relu(self.net1(x.to("cuda:0")))
        return self.net2(x.detach().to("cuda:1"))


# %% toy_half_unused
# net2 is on cuda:1 and never used: half the model does nothing.
# expect:
#   questions:
#     ToyModel: {status: failed, checks: {outputs: wrong_value, gradients: wrong_value, updated: wrong_value, placed: requirement_not_met, ran_on: requirement_not_met, moves: requirement_not_met, nothing_else_moves: requirement_not_met}}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.relu(self.net1(x.to("cuda:0")))
        return x[:, :5].to("cuda:1")


# %% toy_input_not_moved
# An input on the CPU stays there.
# expect:
#   questions:
#     ToyModel: {status: partial, code: raised}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.relu(self.net1(x))
        return self.net2(x.to("cuda:1"))


# %% toy_no_relu
# The ReLU is missing.
# expect:
#   questions:
#     ToyModel: {status: partial, points: 2.8, checks: {outputs: wrong_value, gradients: wrong_value, updated: wrong_value, placed: requirement_not_met, ran_on: requirement_not_met, moves: requirement_not_met, nothing_else_moves: requirement_not_met}}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = self.net1(x.to("cuda:0"))
        return self.net2(x.to("cuda:1"))


# %% toy_other_names
# The layers have other names than was asked for.
# expect:
#   questions:
#     ToyModel: {status: failed, code: raised}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(10, 10).to("cuda:0")
        self.second = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.relu(self.first(x.to("cuda:0")))
        return self.second(x.to("cuda:1"))


# %% toy_parameters_copied
# net2 is on cuda:0 and its parameters are copied in every step.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: ok, updated: ok, placed: wrong_device, ran_on: ok, moves: wrong_transfers, nothing_else_moves: wrong_transfers}}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:0")

    def forward(self, x):
        x = torch.relu(self.net1(x.to("cuda:0")))
        weight, bias = self.net2.weight.to("cuda:1"), self.net2.bias.to("cuda:1")
        return nn.functional.linear(x.to("cuda:1"), weight, bias)


# %% toy_result_sent_back
# The result goes back to cuda:0.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: ok, updated: ok, placed: wrong_device, ran_on: ok, moves: ok, nothing_else_moves: ok}}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.relu(self.net1(x.to("cuda:0")))
        return self.net2(x.to("cuda:1")).to("cuda:0")


# %% toy_second_layer_never_trained
# The second layer computes under no_grad: half of the model learns nothing.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: wrong_type, updated: wrong_value, placed: wrong_device, ran_on: ok, moves: ok, nothing_else_moves: ok}}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.relu(self.net1(x.to("cuda:0"))).to("cuda:1")
        return nn.functional.linear(x, self.net2.weight.detach(), self.net2.bias)


# %% toy_second_layer_stands_idle
# net2 lies on cuda:1 and is copied to cuda:0, where everything is computed.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: ok, updated: ok, placed: ok, ran_on: ran_elsewhere, moves: wrong_transfers, nothing_else_moves: wrong_transfers}}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.relu(self.net1(x.to("cuda:0")))
        weight, bias = self.net2.weight.to("cuda:0"), self.net2.bias.to("cuda:0")
        return nn.functional.linear(x, weight, bias).to("cuda:1")


# %% toy_sends_twice
# The activation is sent, sent back, and sent again.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: ok, updated: ok, placed: ok, ran_on: ok, moves: wrong_transfers, nothing_else_moves: ok}}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.relu(self.net1(x.to("cuda:0")))
        return self.net2(x.to("cuda:1").to("cuda:0").to("cuda:1"))


# %% toy_swapped
# The halves are on each other's device.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: ok, updated: ok, placed: wrong_device, ran_on: ran_elsewhere, moves: wrong_transfers, nothing_else_moves: ok}}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:1")
        self.net2 = nn.Linear(10, 5).to("cuda:0")

    def forward(self, x):
        x = torch.relu(self.net1(x.to("cuda:1")))
        return self.net2(x.to("cuda:0"))


# %% toy_through_numpy
# The activation leaves torch on its way: it goes to the other GPU as a NumPy array.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: wrong_type, updated: wrong_value, again: ok, on_gpus: ok, placed: wrong_device, ran_on: ok, moves: wrong_transfers, no_detour: wrong_transfers, nothing_else_moves: ok}}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        hidden = torch.relu(self.net1(x.to("cuda:0"))).detach().cpu().numpy()
        return self.net2(torch.from_numpy(hidden).to("cuda:1"))


# %% toy_through_the_cpu
# The activation travels by way of the CPU.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: ok, updated: ok, placed: ok, ran_on: ok, moves: wrong_transfers, nothing_else_moves: ok}}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.relu(self.net1(x.to("cuda:0")))
        return self.net2(x.cpu().to("cuda:1"))


# %% toy_works_on_one_device
# Computes all on cuda:0 with copies of net2's parameters, and sends the result.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: ok, updated: ok, placed: ok, ran_on: ran_elsewhere, moves: wrong_transfers, nothing_else_moves: wrong_transfers}}

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.relu(self.net1(x.to("cuda:0")))
        weight, bias = self.net2.weight.to("cuda:0"), self.net2.bias.to("cuda:0")
        return nn.functional.linear(x, weight, bias).to("cuda:1")
