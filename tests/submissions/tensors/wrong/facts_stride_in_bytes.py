# Strides in bytes, as NumPy counts them.
# expect:
#   questions:
#     storage_facts: {status: partial, checks: {size: ok, offset: ok, stride: wrong_value, contiguous: ok}}

import torch


def storage_facts(x):
    return {"size": tuple(x.shape), "offset": x.storage_offset(), "stride": tuple(step * x.element_size() for step in x.stride()), "contiguous": x.is_contiguous()}
