# Moves, and converts nothing.
# expect:
#   questions:
#     to_device_and_dtype: {status: partial, checks: {values: ok, on_the_gpu: ok, at_home: ok, dtypes: wrong_dtype}}

import torch


def to_device_and_dtype(x, y):
    return {"like_y": x.to(y.device), "double": x.cuda(), "home": y.cpu(), "array": y.cpu().numpy()}
