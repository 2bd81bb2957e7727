# Looks at a contiguous copy.
# expect:
#   questions:
#     storage_facts: {status: partial, checks: {size: ok, offset: wrong_value, stride: wrong_value, contiguous: wrong_value}}

import torch


def storage_facts(x):
    return {"size": tuple(x.shape), "offset": x.contiguous().storage_offset(), "stride": x.contiguous().stride(), "contiguous": x.contiguous().is_contiguous()}
