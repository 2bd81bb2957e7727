# Leaves on the GPU what should come home.
# expect:
#   questions:
#     to_device_and_dtype: {status: partial, checks: {values: ok, on_the_gpu: ok, at_home: wrong_device, dtypes: ok}}

import torch


def to_device_and_dtype(x, y):
    return {
        "like_y": x.to(y),
        "double": x.to("cuda", torch.float64),
        "home": y.to(torch.float32),
        "array": y.cpu().numpy(),
    }
