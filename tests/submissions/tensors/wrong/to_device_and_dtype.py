# Wrong ways to write to_device_and_dtype. docs/authoring.md explains the cells.

import torch


# %% gpu_array_by_itself
# Takes a tensor on the GPU to become an array by itself.
# expect:
#   questions:
#     to_device_and_dtype: {status: partial, code: raised}

def to_device_and_dtype(x, y):
    return {
        "like_y": x.to(y),
        "double": x.to("cuda", torch.float64),
        "home": y.to("cpu", torch.float32),
        "array": y.numpy(),
    }


# %% gpu_double_by_numpy
# NumPy doubles: what reaches the GPU comes from no torch operation.
# expect:
#   questions:
#     to_device_and_dtype: {status: partial, checks: {values: ok, again: not_repeated, on_the_gpu: requirement_not_met, at_home: ok, dtypes: ok}}

def to_device_and_dtype(x, y):
    return {
        "like_y": x.to(y),
        "double": torch.from_numpy(x.numpy().astype("float64") * 2).to("cuda") / 2,
        "home": y.to("cpu", torch.float32),
        "array": y.cpu().numpy(),
    }


# %% gpu_home_stays
# Leaves on the GPU what should come home.
# expect:
#   questions:
#     to_device_and_dtype: {status: partial, checks: {values: ok, on_the_gpu: ok, at_home: wrong_type, dtypes: ok}}

def to_device_and_dtype(x, y):
    return {
        "like_y": x.to(y),
        "double": x.to("cuda", torch.float64),
        "home": y.to(torch.float32),
        "array": y.cpu().numpy(),
    }


# %% gpu_keeps_dtype
# Moves, and converts nothing.
# expect:
#   questions:
#     to_device_and_dtype: {status: partial, checks: {values: ok, on_the_gpu: ok, at_home: ok, dtypes: wrong_dtype}}

def to_device_and_dtype(x, y):
    return {"like_y": x.to(y.device), "double": x.cuda(), "home": y.cpu(), "array": y.cpu().numpy()}


# %% gpu_like_y_from_y
# Converts y where x is asked for: the right device and dtype, the wrong numbers.
# expect:
#   questions:
#     to_device_and_dtype: {status: failed, checks: {values: wrong_shape, on_the_gpu: requirement_not_met, at_home: requirement_not_met, dtypes: requirement_not_met}}

def to_device_and_dtype(x, y):
    return {"like_y": y.clone(), "double": x.to("cuda", torch.float64), "home": y.to("cpu", torch.float32), "array": y.cpu().numpy()}


# %% gpu_stays_at_home
# Converts, and moves nothing.
# expect:
#   questions:
#     to_device_and_dtype: {status: partial, checks: {values: ok, on_the_gpu: wrong_device, at_home: ok, dtypes: ok}}

def to_device_and_dtype(x, y):
    home = y.cpu()
    return {
        "like_y": x.to(y.dtype),
        "double": x.double(),
        "home": home.float(),
        "array": home.numpy(),
    }
