# Restores the parameters, and not BatchNorm's statistics.
# expect:
#   questions:
#     EarlyStopping: {status: partial, checks: {patience: ok, best_weights: wrong_value}}

import copy
import math

import torch


class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = float("inf")
        self.best = None
        self.waited = 0

    def step(self, loss, net):
        if math.isnan(loss):
            return True
        if self.best_loss - loss > self.min_delta:
            self.best_loss = loss
            self.best = copy.deepcopy(net.state_dict())
            self.waited = 0
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, net):
        names = dict(net.named_parameters())
        net.load_state_dict({k: v for k, v in self.best.items() if k in names}, strict=False)
