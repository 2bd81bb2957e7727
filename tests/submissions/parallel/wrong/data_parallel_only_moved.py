# The model is moved to cuda:0 and nothing more: inputs stay on the CPU.
# expect:
#   questions:
#     to_data_parallel: {status: failed, code: raised}

from torch import nn


def to_data_parallel(model):
    return model.to("cuda:0")
