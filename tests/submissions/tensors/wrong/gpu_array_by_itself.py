# Takes a tensor on the GPU to become an array by itself.
# expect:
#   questions:
#     to_device_and_dtype: {status: failed, code: raised}

import torch


def to_device_and_dtype(x, y):
    return {
        "like_y": x.to(y),
        "double": x.to("cuda", torch.float64),
        "home": y.to("cpu", torch.float32),
        "array": y.numpy(),
    }
