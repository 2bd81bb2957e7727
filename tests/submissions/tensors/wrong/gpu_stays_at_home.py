# Converts, and moves nothing.
# expect:
#   questions:
#     to_device_and_dtype: {status: partial, checks: {values: ok, on_the_gpu: wrong_device, at_home: ok, dtypes: ok}}

import torch


def to_device_and_dtype(x, y):
    home = y.cpu()
    return {
        "like_y": x.to(y.dtype),
        "double": x.double(),
        "home": home.float(),
        "array": home.numpy(),
    }
