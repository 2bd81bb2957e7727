# The number of entries for the size.
# expect:
#   questions:
#     storage_facts: {status: partial, checks: {size: wrong_type, offset: ok, stride: ok, contiguous: ok}}

import torch


def storage_facts(x):
    return {"size": x.numel(), "offset": x.storage_offset(), "stride": x.stride(), "contiguous": x.is_contiguous()}
