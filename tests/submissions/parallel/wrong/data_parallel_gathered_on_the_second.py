# Results are gathered on cuda:1.
# expect:
#   questions:
#     to_data_parallel: {status: partial, checks: {outputs: ok, gradients: ok, placed: wrong_device, ran_on: ok}}

from torch import nn


def to_data_parallel(model):
    return nn.DataParallel(model.to("cuda:0"), output_device=1)
