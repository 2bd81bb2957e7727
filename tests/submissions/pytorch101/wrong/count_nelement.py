# numel by its other name.
# expect:
#   questions:
#     count_tensor_elements: {status: partial, checks: {count: ok, no_numel: forbidden_call}}

import torch


def count_tensor_elements(x):
    return x.nelement()
