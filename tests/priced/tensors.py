"""Wrong answers to tensors, each with the share of its question's points that a good TA would give."""


# %% make_no_long
# taking: One of six has the wrong dtype.
# price: 0.85
# truth: zeros has dtype float32 instead of int64.
def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(M, N),
        "uniform": torch.rand(M, N),
        "zeros": torch.zeros(M, N),
        "data": torch.tensor(data),
        "ones": like.new_ones(M, N),
        "normal": torch.randn_like(like, dtype=torch.float),
    }


# %% make_uniform_normal
# taking: One of six has another distribution.
# price: 0.85
# truth: uniform is drawn from the normal distribution.
def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(M, N),
        "uniform": torch.randn(M, N),
        "zeros": torch.zeros(M, N, dtype=torch.long),
        "data": torch.tensor(data),
        "ones": like.new_ones(M, N),
        "normal": torch.randn_like(like, dtype=torch.float),
    }


# %% make_data_float
# taking: torch.Tensor(data): always float32; one of six.
# price: 0.85
# truth: torch.Tensor makes float32 of data, whatever it holds.
def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(M, N),
        "uniform": torch.rand(M, N),
        "zeros": torch.zeros(M, N, dtype=torch.long),
        "data": torch.Tensor(data),
        "ones": like.new_ones(M, N),
        "normal": torch.randn_like(like, dtype=torch.float),
    }


# %% make_key_missing
# taking: One of six not done.
# price: 0.8
# truth: The key normal is missing.
def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(M, N),
        "uniform": torch.rand(M, N),
        "zeros": torch.zeros(M, N, dtype=torch.long),
        "data": torch.tensor(data),
        "ones": like.new_ones(M, N),
    }


# %% make_swapped_sizes
# taking: One of six transposed.
# price: 0.85
# truth: ones has shape (N, M) instead of (M, N).
def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(M, N),
        "uniform": torch.rand(M, N),
        "zeros": torch.zeros(M, N, dtype=torch.long),
        "data": torch.tensor(data),
        "ones": like.new_ones(N, M),
        "normal": torch.randn_like(like, dtype=torch.float),
    }


# %% add_in_place_first
# taking: y changed before out is made: out is x + x + y.
# price: 0.7
# truth: out is computed after y has changed, so it is 2x + y.
def add_three_ways(x, y, out):
    new = x + y
    y.add_(x)
    torch.add(x, y, out=out)
    return {"new": new, "out": out, "in_place": y}


# %% add_out_rebound
# taking: out = x + y: not the given tensor.
# price: 0.75
# truth: out is a new tensor, not the one that was given.
def add_three_ways(x, y, out):
    new = x + y
    out = x + y
    y += x
    return {"new": new, "out": out, "in_place": y}


# %% add_x_changed
# taking: Changes x where y is asked.
# price: 0.6
# truth: It changes x in place instead of y.
def add_three_ways(x, y, out):
    new = x + y
    torch.add(x, y, out=out)
    x.add_(y)
    return {"new": new, "out": out, "in_place": x}


# %% matvec_mm_flat
# taking: One of three has the wrong shape.
# price: 0.75
# truth: The second product has shape (M,) instead of (M, 1).
def matvec_three_ways(x, v):
    return x.mv(v), x.mm(v.view(-1, 1)).squeeze(), x.matmul(v)


# %% matvec_mm_vector
# taking: mm with a vector: raises; the two others are right.
# price: 0.6
# truth: mm gets a vector instead of a matrix of one column and raises an error.
def matvec_three_ways(x, v):
    return torch.mv(x, v), torch.mm(x, v), torch.matmul(x, v)


# %% matvec_list
# taking: List for tuple: of no matter to most.
# price: 0.9
# truth: It returns a list instead of a tuple.
def matvec_three_ways(x, v):
    return [x.mv(v), x.mm(v.unsqueeze(1)), x @ v]


# %% outer_transposed
# taking: Transposed.
# price: 0.65
# truth: The result is transposed: shape (N, M).
def outer_product(v, w):
    return w.view(-1, 1) * v


# %% outer_elementwise
# taking: Forgot to add a dimension.
# price: 0.3
# truth: v has no second dimension, so the vectors are multiplied entry by entry.
def outer_product(v, w):
    return v * w


# %% outer_forbidden
# taking: torch.outer: forbidden.
# price: 0.6
# truth: It uses outer, which is not allowed.
def outer_product(v, w):
    return torch.outer(v, w)


# %% row_in_place
# taking: x changed.
# price: 0.7
# truth: It changes x itself.
def add_row(x, v):
    x += v
    return x


# %% column_as_row
# taking: Same as add_row: the point is the view.
# price: 0.3
# truth: w is added to the rows: it has not been made a column.
def add_column(x, w):
    return x + w


# %% column_loop
# taking: Right with a loop.
# price: 0.7
# truth: It uses a loop.
def add_column(x, w):
    y = x.clone()
    for i in range(len(w)):
        y[i] += w[i]
    return y


# %% flatten_reshape
# taking: reshape copies where it must not.
# price: 0.6
# truth: reshape copies silently where view would raise.
def flatten_views(x):
    return x.reshape(-1), x.reshape(-1, 8)


# %% flatten_eight_rows
# taking: One of two wrong: 8 rows in place of columns.
# price: 0.6
# truth: The second view has 8 rows instead of 8 columns.
def flatten_views(x):
    return x.view(-1), x.view(8, -1)


# %% facts_shape_kind
# taking: torch.Size is a tuple; stride as list: one of four slightly off.
# price: 0.85
# truth: stride is a list instead of a tuple.
def storage_facts(x):
    return {"size": tuple(x.shape), "offset": x.storage_offset(), "stride": list(x.stride()), "contiguous": x.is_contiguous()}


# %% facts_offset_address
# taking: One of four wrong.
# price: 0.75
# truth: offset is an address in memory instead of a position in the storage.
def storage_facts(x):
    return {"size": tuple(x.shape), "offset": x.data_ptr(), "stride": x.stride(), "contiguous": x.is_contiguous()}


# %% facts_contiguous_missing
# taking: Key misspelt; three of four right.
# price: 0.8
# truth: The key is is_contiguous instead of contiguous.
def storage_facts(x):
    return {"size": tuple(x.shape), "offset": x.storage_offset(), "stride": x.stride(), "is_contiguous": x.is_contiguous()}


# %% same_data_ptr
# taking: Compares the first entries, as the hint warns.
# price: 0.5
# truth: It compares addresses of first entries, so two rows of one matrix count as different.
def same_storage(x, y):
    return x.data_ptr() == y.data_ptr()


# %% same_equal
# taking: Compares numbers.
# price: 0.15
# truth: It compares the numbers, not the storage.
def same_storage(x, y):
    return torch.equal(x, y)


# %% transpose_t
# taking: .T: right for matrices only.
# price: 0.5
# truth: .T reverses all dimensions, so more than two are wrong.
def transpose_without_copy(x):
    return x.T


# %% transpose_copy
# taking: Right numbers, copied.
# price: 0.6
# truth: It returns a copy and not a view.
def transpose_without_copy(x):
    return x.transpose(-1, -2).contiguous()


# %% contiguous_clone
# taking: Always copies.
# price: 0.5
# truth: It copies also where x is contiguous already.
def make_contiguous(x):
    return x.clone(memory_format=torch.contiguous_format)


# %% squeeze_middle_all
# taking: One of four: squeeze() for squeeze(1).
# price: 0.75
# truth: middle drops all dimensions of size 1 instead of the middle one.
def squeeze_unsqueeze(x):
    return {"all": x.squeeze(), "middle": x.squeeze(), "first": x.unsqueeze(0), "last": x.unsqueeze(-1)}


# %% squeeze_last_two
# taking: One of four: unsqueeze(2).
# price: 0.75
# truth: last adds its dimension at position 2 instead of the end.
def squeeze_unsqueeze(x):
    return {"all": x.squeeze(), "middle": x.squeeze(1), "first": x.unsqueeze(0), "last": x.unsqueeze(2)}


# %% bridge_own_double
# taking: dtype of own.
# price: 0.8
# truth: own keeps float64 instead of float32.
def numpy_bridge(a):
    return {"shared": torch.from_numpy(a), "own": torch.tensor(a)}


# %% bridge_own_shares
# taking: float() shares where a is float32 already.
# price: 0.75
# truth: own shares its memory with a where a is float32 already.
def numpy_bridge(a):
    return {"shared": torch.from_numpy(a), "own": torch.from_numpy(a).float()}


# %% as_numpy_no_detach
# taking: Fails with gradients.
# price: 0.7
# truth: detach is missing, so tensors that require gradients raise an error.
def as_numpy(x):
    return x.numpy()


# %% as_numpy_copy
# taking: Copies.
# price: 0.55
# truth: It returns a copy that shares no memory.
def as_numpy(x):
    return np.array(x.detach().tolist(), dtype=str(x.dtype).split(".")[1])


# %% device_array_no_cpu
# taking: One of four raises: .numpy() of a tensor on the GPU.
# price: 0.55
# truth: .numpy() is called on a GPU tensor: .cpu() is missing.
def to_device_and_dtype(x, y):
    return {"like_y": x.to(y), "double": x.to("cuda", torch.float64), "home": y.to("cpu", torch.float32), "array": y.numpy()}


# %% device_home_dtype
# taking: One of four keeps its dtype.
# price: 0.8
# truth: home keeps y's dtype instead of float32.
def to_device_and_dtype(x, y):
    return {"like_y": x.to(y), "double": x.to("cuda", torch.float64), "home": y.cpu(), "array": y.cpu().numpy()}


# %% dtype_of_x
# taking: Not worked out.
# price: 0.2
# truth: It returns the dtype of x, whatever y is.
def choose_dtype(x, y):
    return x.dtype


# %% rows_as_is
# taking: No conversion of the index: int64 alone works.
# price: 0.4
# truth: The index is not converted to int64, so other dtypes fail.
def rows_at(x, index):
    return x[index]


# %% halves_late
# taking: Sums in float16, converts after.
# price: 0.4
# truth: It adds up in float16 and converts afterwards, so large sums overflow.
def sum_of_halves(x):
    return x.sum().float()


# %% halves_item
# taking: Right sum, Python number.
# price: 0.75
# truth: It returns a Python float instead of a tensor.
def sum_of_halves(x):
    return x.float().sum().item()


# %% axes_mean
# taking: Weighted mean in place of sum.
# price: 0.6
# truth: It divides by the sum of the weights, which is not asked for.
def named_axes(images, weights):
    return torch.einsum("...chw,c->...hw", images, weights) / weights.sum()


# %% axes_rank_four
# taking: Only for one batch dimension.
# price: 0.5
# truth: It takes exactly one dimension before the last three.
def named_axes(images, weights):
    return torch.einsum("bchw,c->bhw", images, weights)


# %% save_views
# taking: Saves whole storages.
# price: 0.7
# truth: Views are saved with all of the tensor that they look at: clone is missing.
def save_tensors(tensors, path):
    torch.save(tensors, path)


# %% load_unsafe
# taking: Runs what is in the file.
# price: 0.5
# truth: weights_only=False runs code that is in the file.
def load_tensors(path):
    return torch.load(path, weights_only=False)


# %% hdf5_no_detach
# taking: Fails with gradients.
# price: 0.65
# truth: detach is missing, so tensors that require gradients raise an error.
def save_hdf5(tensors, path):
    import h5py
    with h5py.File(path, "w") as f:
        for name in tensors:
            f.create_dataset(name, data=tensors[name].numpy())


# %% scaled_scale_parameter
# taking: Scale is a parameter, not a buffer.
# price: 0.7
# truth: scale is a parameter, so it is trained.
class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.scale = nn.Parameter(scale)


# %% scaled_plain_attribute
# taking: Scale a plain attribute.
# price: 0.65
# truth: scale is a plain attribute, so it is not in the state and not converted.
class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.scale = scale


# %% scaled_no_scale
# taking: scale not used in forward.
# price: 0.65
# truth: forward does not multiply by scale.
class ScaledLinear(nn.Module):
    def forward(self, x):
        return x @ self.weight


# %% gradient_by_rows
# taking: Divides by the rows, not by all entries.
# price: 0.75
# truth: It divides by the number of rows instead of the number of entries.
def gradient_by_hand(x, w, y):
    return 2 / x.shape[0] * x.t() @ (x @ w - y)


# %% gradient_no_two
# taking: Factor 2 forgotten.
# price: 0.75
# truth: The factor 2 is missing.
def gradient_by_hand(x, w, y):
    return x.t() @ (x @ w - y) / y.numel()


# %% gradient_sign
# taking: Sign.
# price: 0.7
# truth: The sign is wrong: y - x @ w instead of x @ w - y.
def gradient_by_hand(x, w, y):
    return 2 * x.T @ (y - x @ w) / y.numel()
