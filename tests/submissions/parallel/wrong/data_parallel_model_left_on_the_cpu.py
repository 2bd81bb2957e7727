# The model was not moved to the first GPU.
# expect:
#   questions:
#     to_data_parallel: {status: failed, code: raised}

from torch import nn


def to_data_parallel(model):
    return nn.DataParallel(model)
