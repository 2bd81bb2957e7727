# Every GPU computes its part, and the results of the first are all that is returned, twice.
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
        outputs = parallel_apply(replicate(self.model, devices), scatter(x, devices))
        return gather([outputs[0], outputs[0].to("cuda:1")], 0)


def to_data_parallel(model):
    return Spread(model)
