# Results of the last GPU come first.
# expect:
#   questions:
#     to_data_parallel: {status: failed, checks: {outputs: wrong_value, gradients: wrong_value, placed: requirement_not_met, ran_on: requirement_not_met}}

import torch
from torch import nn
from torch.nn.parallel import gather, parallel_apply, replicate, scatter


class Spread(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model.to("cuda:0")

    def forward(self, x):
        devices = list(range(torch.cuda.device_count()))
        inputs = scatter(x, devices)
        outputs = parallel_apply(replicate(self.model, devices[: len(inputs)]), inputs)
        return gather(outputs[::-1], 0)


def to_data_parallel(model):
    return Spread(model)
