# A copy is trained.
# expect:
#   questions:
#     to_data_parallel: {status: partial, checks: {outputs: ok, gradients: wrong_type, placed: wrong_device, ran_on: ok}}

import copy

from torch import nn


def to_data_parallel(model):
    return nn.DataParallel(copy.deepcopy(model).to("cuda:0"))
