# The offset in bytes.
# expect:
#   questions:
#     storage_facts: {status: partial, checks: {size: ok, offset: wrong_value, stride: ok, contiguous: ok}}

import torch


def storage_facts(x):
    return {"size": tuple(x.shape), "offset": x.storage_offset() * x.element_size(), "stride": x.stride(), "contiguous": x.is_contiguous()}
