# Takes a last step of 1 for contiguous.
# expect:
#   questions:
#     storage_facts: {status: partial, checks: {size: ok, offset: ok, stride: ok, contiguous: wrong_value}}

import torch


def storage_facts(x):
    return {"size": tuple(x.shape), "offset": x.storage_offset(), "stride": x.stride(), "contiguous": x.dim() == 0 or x.stride()[-1] == 1}
