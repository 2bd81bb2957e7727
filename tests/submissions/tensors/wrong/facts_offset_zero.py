# Takes every view to begin at the beginning.
# expect:
#   questions:
#     storage_facts: {status: partial, checks: {size: ok, offset: wrong_value, stride: ok, contiguous: ok}}

import torch


def storage_facts(x):
    return {"size": tuple(x.shape), "offset": 0, "stride": x.stride(), "contiguous": x.is_contiguous()}
