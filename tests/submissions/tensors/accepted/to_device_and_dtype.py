# Right ways to write to_device_and_dtype. docs/authoring.md explains the cells.

import torch


# %% gpu_by_way_of_a_list
# Makes the tensors anew from numbers, with one call of `to` too many, but right.
# expect:
#   questions: {"*": {status: passed}}

def to_device_and_dtype(x, y):
    return {
        "like_y": torch.tensor(x.tolist(), dtype=y.dtype).to(y.device),
        "double": torch.tensor(x.tolist(), dtype=torch.float64).cuda(),
        "home": y.to("cpu", torch.float32),
        "array": y.cpu().numpy(),
    }


# %% gpu_by_way_of_numpy
# Makes one of the tensors from a copy that NumPy has.
# expect:
#   questions: {"*": {status: passed}}

def to_device_and_dtype(x, y):
    return {
        "like_y": torch.tensor(x.numpy(), dtype=y.dtype, device=y.device),
        "double": torch.from_numpy(x.numpy().copy()).double().to(y.device),
        "home": y.to("cpu", torch.float32),
        "array": y.cpu().numpy(),
    }
