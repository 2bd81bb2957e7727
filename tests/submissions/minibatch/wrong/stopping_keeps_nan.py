# Stops at NaN, but keeps the weights that gave it.
# expect:
#   questions:
#     EarlyStopping: {status: partial, checks: {nan: ok, best_before_nan: wrong_value}}

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
            self.best = copy.deepcopy(net.state_dict())
            return True
        if self.best_loss - loss > self.min_delta:
            self.best_loss = loss
            self.best = copy.deepcopy(net.state_dict())
            self.waited = 0
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, net):
        net.load_state_dict(self.best)
