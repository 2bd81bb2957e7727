# Loops behind builtins whose names are put together at run time: the text shows none.
# expect:
#   questions:
#     add_column: {checks: {no_loops: needs_review}}  # as sum() does, which is no loop
#     "*": {checks: {no_loops: loop_found}}

import builtins
import functools
import operator

import torch

each = getattr(builtins, "m" + "ap")
fold = getattr(functools, "re" + "duce")


def matvec_three_ways(x, v):
    product = torch.stack(list(each(v.dot, x)))
    return product, product.view(-1, 1), product


def outer_product(v, w):
    return torch.stack(list(each(w.mul, v)))


def add_column(x, w):
    return torch.stack(list(each(operator.add, x, w)))


def named_axes(images, weights):
    channels = images.movedim(-3, 0)
    return fold(operator.add, each(operator.mul, channels, weights))


def gradient_by_hand(x, w, y):
    difference = x @ w - y
    rows = each(lambda row, wrong: row.view(-1, 1) * wrong, x, difference)
    return fold(operator.add, rows) * 2 / y.numel()
