# Every function is there and does nothing.
# expect:
#   questions:
#     train_minibatch: {status: failed, checks: {weights: wrong_value, losses: not_implemented}}
#     predict: {status: failed, code: not_implemented}
#     build_net: {status: failed, code: not_implemented}
#     search: {status: failed}

import torch


def build_net():
    pass


def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    pass


def predict(net, X, batch_size):
    pass


def search(config_space, train_fn, num_samples, seed=0):
    pass
