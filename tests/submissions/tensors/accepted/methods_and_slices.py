# All of it in other words: methods for functions, None for view, tensordot for einsum.
# expect:
#   questions:
#     "*": {status: passed}

import h5py
import numpy as np
import torch


def make_tensors(M, N, data, like):
    zeros = torch.LongTensor(M, N).zero_()
    return dict(
        normal=torch.normal(torch.zeros(like.shape), 1.0),
        ones=torch.full((M, N), 1, dtype=like.dtype),
        data=torch.as_tensor(data),
        zeros=zeros,
        uniform=torch.empty(M, N).uniform_(),
        empty=torch.zeros(M, N),
    )


def add_three_ways(x, y, out):
    new = torch.add(y, x)
    out[...] = new
    y += x
    return {"in_place": y, "out": out, "new": new}


def matvec_three_ways(x, v):
    y = (x * v).sum(dim=1)
    return [y, y[:, None], y.clone()]


def outer_product(v, w):
    return v.unsqueeze(1).expand(-1, len(w)) * w.expand(len(v), -1)


def add_row(x, v):
    return v.unsqueeze(0).repeat(len(x), 1).add_(x)


def add_column(x, w):
    return (x.T + w).T


def flatten_views(x):
    return x.view(x.numel()), x.view(x.numel() // 8, 8)


def storage_facts(x):
    contiguous = x.stride() == x.contiguous().stride() or x.is_contiguous()
    return {
        "contiguous": contiguous,
        "stride": [x.stride(axis) for axis in range(x.dim())],
        "offset": (x.data_ptr() - x.untyped_storage().data_ptr()) // x.element_size(),
        "size": x.shape,
    }


def same_storage(x, y):
    return x.untyped_storage()._cdata == y.untyped_storage()._cdata


def transpose_without_copy(x):
    return x.mT


def make_contiguous(x):
    if x.is_contiguous():
        return x.view(x.shape)
    y = torch.empty(x.shape, dtype=x.dtype)
    y[...] = x
    return y


def squeeze_unsqueeze(x):
    return {
        "first": x[None],
        "last": x[..., None],
        "middle": x[:, 0],
        "all": x.view([size for size in x.shape if size != 1]),
    }


def numpy_bridge(a):
    return {"shared": torch.as_tensor(a), "own": torch.from_numpy(a.astype(np.float32))}


def as_numpy(x):
    return np.asarray(x.data)


def to_device_and_dtype(x, y):
    home = y.detach().cpu()
    return {
        "like_y": x.to(device=y.device, dtype=y.dtype),
        "double": x.cuda().double(),
        "home": home.float(),
        "array": home.numpy(),
    }


def choose_dtype(x, y):
    return (x + y).dtype


def rows_at(x, index):
    return x.index_select(0, index.int())


def sum_of_halves(x):
    return x.float().flatten().sum()


def named_axes(images, weights):
    return torch.tensordot(images, weights, dims=([-3], [0]))


def save_tensors(tensors, path):
    copies = {}
    for name in tensors:
        copies[name] = torch.empty_like(tensors[name]).copy_(tensors[name])
    with open(path, "wb") as file:
        torch.save(copies, file, _use_new_zipfile_serialization=False)


def load_tensors(path):
    with open(path, "rb") as file:
        return torch.load(file, map_location="cpu")


def save_hdf5(tensors, path):
    file = h5py.File(path, "w", libver="latest")
    for name, tensor in tensors.items():
        array = tensor.detach().cpu().contiguous().numpy()
        file.create_dataset(name, data=array, chunks=True, compression="gzip")
    file.close()


def load_hdf5(path):
    tensors = {}
    with h5py.File(path) as file:
        for name, dataset in file.items():
            tensors[name] = torch.tensor(np.asarray(dataset))
    return tensors


class ScaledLinear(torch.nn.Module):
    def __init__(self, weight, scale):
        super(ScaledLinear, self).__init__()
        self.register_buffer("scale", scale)
        self.register_parameter("weight", torch.nn.Parameter(weight))

    def forward(self, x):
        return torch.mm(x, self.weight).mul(self.scale)


def gradient_by_hand(x, w, y):
    error = torch.mm(x, w).sub(y)
    return torch.einsum("mn,mp->np", x, error).mul(2).div(error.shape[0] * error.shape[1])
