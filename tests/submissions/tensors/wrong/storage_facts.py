# Wrong ways to write storage_facts. docs/authoring.md explains the cells.

import torch


# %% facts_contiguous_copy
# Looks at a contiguous copy.
# expect:
#   questions:
#     storage_facts: {status: partial, checks: {size: ok, offset: wrong_value, stride: wrong_value, contiguous: wrong_value}}

def storage_facts(x):
    return {"size": tuple(x.shape), "offset": x.contiguous().storage_offset(), "stride": x.contiguous().stride(), "contiguous": x.contiguous().is_contiguous()}


# %% facts_contiguous_last
# Takes a last step of 1 for contiguous.
# expect:
#   questions:
#     storage_facts: {status: partial, checks: {size: ok, offset: ok, stride: ok, contiguous: wrong_value}}

def storage_facts(x):
    return {"size": tuple(x.shape), "offset": x.storage_offset(), "stride": x.stride(), "contiguous": x.dim() == 0 or x.stride()[-1] == 1}


# %% facts_offset_in_bytes
# The offset in bytes.
# expect:
#   questions:
#     storage_facts: {status: partial, checks: {size: ok, offset: wrong_value, stride: ok, contiguous: ok}}

def storage_facts(x):
    return {"size": tuple(x.shape), "offset": x.storage_offset() * x.element_size(), "stride": x.stride(), "contiguous": x.is_contiguous()}


# %% facts_offset_zero
# Takes every view to begin at the beginning.
# expect:
#   questions:
#     storage_facts: {status: partial, checks: {size: ok, offset: wrong_value, stride: ok, contiguous: ok}}

def storage_facts(x):
    return {"size": tuple(x.shape), "offset": 0, "stride": x.stride(), "contiguous": x.is_contiguous()}


# %% facts_size_is_count
# The number of entries for the size.
# expect:
#   questions:
#     storage_facts: {status: partial, checks: {size: wrong_type, offset: ok, stride: ok, contiguous: ok}}

def storage_facts(x):
    return {"size": x.numel(), "offset": x.storage_offset(), "stride": x.stride(), "contiguous": x.is_contiguous()}


# %% facts_stride_computed
# Strides as a contiguous tensor of that size would have them.
# expect:
#   questions:
#     storage_facts: {status: partial, checks: {size: ok, offset: ok, stride: wrong_value, contiguous: ok}}

def storage_facts(x):
    return {"size": tuple(x.shape), "offset": x.storage_offset(), "stride": torch.empty(x.shape).stride(), "contiguous": x.is_contiguous()}


# %% facts_stride_in_bytes
# Strides in bytes, as NumPy counts them.
# expect:
#   questions:
#     storage_facts: {status: partial, checks: {size: ok, offset: ok, stride: wrong_value, contiguous: ok}}

def storage_facts(x):
    return {"size": tuple(x.shape), "offset": x.storage_offset(), "stride": tuple(step * x.element_size() for step in x.stride()), "contiguous": x.is_contiguous()}
