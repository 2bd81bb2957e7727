# Strides as a contiguous tensor of that size would have them.
# expect:
#   questions:
#     storage_facts: {status: partial, checks: {size: ok, offset: ok, stride: wrong_value, contiguous: ok}}

import torch


def storage_facts(x):
    return {"size": tuple(x.shape), "offset": x.storage_offset(), "stride": torch.empty(x.shape).stride(), "contiguous": x.is_contiguous()}
