# %% make_tensors_randn_and_float_zeros
# taking: Mostly right, two slips: uniform drawn from the normal distribution, and zeros left in float32.
# price: 0.6
# truth: "uniform" uses randn, and "zeros" is float32 instead of int64.

def make_tensors(M, N, data, like):
    size = (M, N)
    return dict(
        empty=torch.empty(size),
        uniform=torch.randn(size),
        zeros=torch.zeros(size),
        data=torch.tensor(data),
        ones=like.new_ones(size),
        normal=torch.randn(like.shape),
    )

# %% add_three_wrong_order
# taking: All three ways are known and memory is right, but y is changed first, so the others hold 2x + y.
# price: 0.65
# truth: Adds in place first, so that "new" and "out" add x once too often.

def add_three_ways(x, y, out):
    y += x
    torch.add(x, y, out=out)
    return {"new": x + y, "out": out, "in_place": y}

# %% outer_with_matmul
# taking: Right numbers, no loop, but by a product of matrices, which is expressly not allowed (a quarter of the points).
# price: 0.75
# truth: Uses a matrix product of a column and a row instead of broadcasting.

def outer_product(v, w):
    column = v[:, None]
    row = w[None, :]
    return column @ row

# %% add_column_as_row
# taking: Just x + w: fails unless M equals N and is silently wrong then; this was the whole point of the task. No loop and no change, though.
# price: 0.25
# truth: Broadcasts w along the rows, so it raises or adds a row.

def add_column(x, w):
    return x + w

# %% add_column_inplace_loop
# taking: Right numbers, but a loop where none may be, and written into the caller's x: both rules broken.
# price: 0.6
# truth: Loops over the rows and adds in place to x.

def add_column(x, w):
    for i in range(x.shape[0]):
        x[i] += w[i]
    return x

# %% flatten_reshape
# taking: Numbers right and views where possible, but reshape copies silently when it should raise: a third of the points.
# price: 0.65
# truth: Uses reshape, which copies instead of raising where no view exists.

def flatten_views(x):
    flat = x.reshape(-1)
    matrix = flat.reshape(-1, 8)
    return flat, matrix

# %% storage_facts_contig_strides
# taking: Size and contiguity right; offset is taken as the address, and the stride of a contiguous copy is reported: half.
# price: 0.5
# truth: "offset" is data_ptr() and "stride" is that of a contiguous copy.

def storage_facts(x):
    facts = {}
    facts["size"] = tuple(x.shape)
    facts["offset"] = x.data_ptr()
    facts["stride"] = tuple(x.contiguous().stride())
    facts["contiguous"] = x.is_contiguous()
    return facts

# %% same_storage_data_ptr
# taking: Right direction, but data_ptr of the tensors is the address of the first entry, against which the hint warned; two rows fail.
# price: 0.35
# truth: Compares the addresses of the first entries, so views with another offset count as not shared.

def same_storage(x, y):
    a = x.data_ptr()
    b = y.data_ptr()
    if a == b:
        return True
    else:
        return False

# %% make_contiguous_always_copies
# taking: Always contiguous with the right numbers, but always copies; copying only where needed was half.
# price: 0.5
# truth: Always copies, also where x is contiguous already.

def make_contiguous(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    y.copy_(x)
    return y

# %% squeeze_all_for_middle
# taking: Three of four views are right; middle drops every dimension of size 1, which is wrong when M or N is 1.
# price: 0.75
# truth: "middle" is squeeze() without a dimension.

def squeeze_unsqueeze(x):
    return {
        "all": x.squeeze(),
        "middle": x.squeeze(),
        "first": x[None],
        "last": x[..., None],
    }

# %% numpy_bridge_own_shares
# taking: Shared is right, dtype right; own shares memory when a is float32 already, since float() then copies nothing.
# price: 0.75
# truth: "own" shares the memory of a float32 array, because .float() does not copy there.

def numpy_bridge(a):
    shared = torch.from_numpy(a)
    own = shared.float()
    return {"shared": shared, "own": own}

# %% as_numpy_clone
# taking: Handles gradients and returns an array, but clones first, so nothing is shared, and that was the task.
# price: 0.55
# truth: Copies the tensor before it is turned into an array.

def as_numpy(x):
    if x.requires_grad:
        x = x.detach()
    copy = x.clone()
    return copy.numpy()

# %% rows_at_unique
# taking: Sees that the dtype must be converted, which is the point here, but then loses order and repeats of the rows.
# price: 0.45
# truth: torch.unique sorts the index and drops repeated numbers.

def rows_at(x, index):
    numbers = torch.unique(index.long())
    return x[numbers]

# %% sum_of_halves_late
# taking: Sum is formed in float16 and converted afterwards: large sums are inf; small sums and dtype are right.
# price: 0.45
# truth: Sums in float16 and only then converts to float32.

def sum_of_halves(x):
    total = torch.sum(x)
    total = total.to(torch.float32)
    return total

# %% load_tensors_unsafe
# taking: Reads the tensors well, but turns off exactly the protection that the docstring demands (half).
# price: 0.5
# truth: weights_only=False runs whatever the file holds.

def load_tensors(path):
    # weights_only=True gave me an error on my own file
    with open(path, "rb") as f:
        loaded = torch.load(f, weights_only=False)
    return {name: t for name, t in loaded.items()}

# %% scaled_linear_scale_parameter
# taking: Output, saving and conversion are right, but scale is a parameter and so gets trained, the very thing this class is about.
# price: 0.6
# truth: scale is an nn.Parameter instead of a buffer, so it is in parameters() and changes in a step.

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight.clone())
        self.scale = nn.Parameter(scale.clone())

# %% gradient_wrong_mean
# taking: By hand and without loops, transpose right; divides by the rows only, not by all entries, so it is off by a factor P.
# price: 0.75
# truth: Divides by M instead of M * P.

def gradient_by_hand(x, w, y):
    rows = x.shape[0]
    error = torch.mm(x, w) - y
    g = torch.mm(x.transpose(0, 1), error)
    return g * 2.0 / rows

# %% choose_dtype_only_tensors
# taking: promote_types is near the mark for tensors of equal rank; Python numbers are turned into float32 tensors, so an int y gives a float: half.
# price: 0.45
# truth: Takes every number as float32, and tensors of rank 0 count like others.

def choose_dtype(x, y):
    if isinstance(y, torch.Tensor):
        other = y.dtype
    else:
        other = torch.float32
    return torch.promote_types(x.dtype, other)

# %% save_whole_storage
# taking: Names, values and dtypes arrive, but the whole storage behind a view is written, against which the handout warns at length.
# price: 0.67
# truth: Saves the views as they are, so the large storage is in the file.

def save_tensors(tensors, path):
    to_save = {}
    for key in tensors:
        to_save[key] = tensors[key].detach()
    with open(path, "wb") as f:
        torch.save(to_save, f)

# %% load_hdf5_float32
# taking: Opens, reads into memory and closes; but every dataset is turned into float32, and the dtype was to stay.
# price: 0.65
# truth: Uses torch.Tensor, which makes float32 of any dtype.

def load_hdf5(path):
    import h5py

    out = {}
    f = h5py.File(path, "r")
    for key in f.keys():
        out[key] = torch.Tensor(np.array(f[key]))
    f.close()
    return out

# %% named_axes_first_dimension
# taking: No loop and right for a batch of images; a fixed pattern of four letters raises for single images or more dimensions.
# price: 0.6
# truth: einsum without "...": works for exactly one leading dimension.

def named_axes(images, weights):
    b, c, h, w = images.shape
    return torch.einsum("bchw,c->bhw", images, weights)

# %% device_array_without_cpu
# taking: like_y, double and home are right; y.numpy() raises on a GPU (the handout prints that in bold), so nothing comes back at all.
# price: 0.55
# truth: Calls numpy() on a GPU tensor, which raises.

def to_device_and_dtype(x, y):
    moved = x.to(device=y.device, dtype=y.dtype)
    double = x.to(device="cuda", dtype=torch.double)
    home = y.cpu().float()
    array = y.detach().numpy()
    return {"like_y": moved, "double": double, "home": home, "array": array}
