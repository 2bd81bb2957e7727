# One GPU does it all.
# expect:
#   questions:
#     to_data_parallel: {status: partial, checks: {outputs: ok, gradients: ok, placed: ok, ran_on: ran_elsewhere}}

from torch import nn


def to_data_parallel(model):
    return nn.DataParallel(model.to("cuda:0"), device_ids=[0])
