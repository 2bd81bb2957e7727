# Converts y where x is asked for: the right device and dtype, the wrong numbers.
# expect:
#   questions:
#     to_device_and_dtype: {status: failed, checks: {values: wrong_shape, on_the_gpu: requirement_not_met, at_home: requirement_not_met, dtypes: requirement_not_met}}

import torch


def to_device_and_dtype(x, y):
    return {"like_y": y.clone(), "double": x.to("cuda", torch.float64), "home": y.to("cpu", torch.float32), "array": y.cpu().numpy()}
