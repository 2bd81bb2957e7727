# The loop over epochs never ends: that question is lost, the next one is graded.
# expect:
#   questions:
#     train_minibatch: {status: failed, code: timed_out}
#     build_net: {status: passed}

import torch


def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    losses = []
    while True:
        for xx, yy in loader:
            loss_fn(net(xx), yy)


def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1))
