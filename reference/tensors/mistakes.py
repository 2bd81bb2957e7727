# Known mistakes of tensors. docs/authoring.md explains the cells.

import torch
from torch import nn


# %% add_too_early
# says: “new” and “out” have x twice: add in place last.
# says-ko: “new”와 “out”에 x가 두 번 들어 있습니다. 제자리 덧셈을 마지막에 하세요.
# earns: 0.5

def add_three_ways(x, y, out):
    y += x
    torch.add(x, y, out=out)
    return {"new": out.clone(), "out": out, "in_place": y}


# %% matvec_all_columns
# says: All three results are columns of shape (M, 1); mv and matmul give vectors of shape (M,).
# says-ko: 세 결과가 모두 shape이 (M, 1)인 열입니다. mv와 matmul은 shape이 (M,)인 벡터입니다.
# earns: 0.6

def matvec_three_ways(x, v):
    column = x.mv(v)[:, None]
    return column, column.clone(), column.clone()


# %% matvec_all_vectors
# says: All three results are vectors; the product of two matrices, mm, is a column of shape (M, 1).
# says-ko: 세 결과가 모두 벡터입니다. 두 행렬의 곱 mm은 shape이 (M, 1)인 열입니다.
# earns: 0.7

def matvec_three_ways(x, v):
    vector = x.mv(v)
    return vector, vector.clone(), vector.clone()


# %% outer_elementwise
# says: Rows and columns are swapped: entry [i, j] is v[i] * w[j].
# says-ko: 행과 열이 바뀌었습니다. [i, j]는 v[i] * w[j]입니다.
# earns: 0.6

def outer_product(v, w):
    return w[:, None] * v


# %% row_as_column
# says: v counts as a column here: v[i] is added to row i where the sizes allow it. Add all of v
#   to every row.
# says-ko: v를 열로 더했습니다. 크기가 맞으면 v[i]가 i행에 더해집니다. 모든 행에 v 전체를 더하세요.

def add_row(x, v):
    return x + v[:, None]


# %% row_of_all
# says: Only the first row has v added to it; every row is to have it.
# says-ko: 첫 행에만 v를 더했습니다. 모든 행에 더해야 합니다.
# earns: 0.5

def add_row(x, v):
    return torch.cat([x[:1] + v, x[1:]])


# %% column_as_row
# says: w counts as a row here; give it the shape (M, 1), such as by w[:, None].
# says-ko: w를 행으로 더했습니다. w[:, None]처럼 shape을 (M, 1)로 만드세요.

def add_column(x, w):
    return x + w[None]


# %% column_as_row_if_square
# says: Where the matrix is square, w is added as a row; give it the shape (M, 1) always.
# says-ko: 정사각 행렬에서 w가 행으로 더해졌습니다. 언제나 shape을 (M, 1)로 만드세요.
# earns: 0.4

def add_column(x, w):
    return x + (w if x.shape[0] == x.shape[1] else w[:, None])


# %% flatten_two_columns
# says: The second view has eight rows; eight columns are asked for.
# says-ko: 두 번째 view의 행이 여덟 개입니다. 열이 여덟 개여야 합니다.
# earns: 0.6

def flatten_views(x):
    return x.view(-1), x.view(8, x.numel() // 8)


# %% facts_stride_computed
# says: The strides are those of a contiguous tensor of that size; a view has its own: x.stride().
# says-ko: 그 크기의 contiguous한 tensor의 stride입니다. view의 stride는 다릅니다: x.stride().
# earns: 0.3

def storage_facts(x):
    stride = torch.empty_like(x, memory_format=torch.contiguous_format).stride()
    return {"size": tuple(x.shape), "offset": x.storage_offset(), "stride": stride, "contiguous": x.is_contiguous()}


# %% facts_stride_in_bytes
# says: The strides count bytes; they are to count elements, as x.stride() does.
# says-ko: stride가 바이트 단위입니다. x.stride()처럼 원소 단위여야 합니다.
# earns: 0.5

def storage_facts(x):
    stride = tuple(step * x.element_size() for step in x.stride())
    return {"size": tuple(x.shape), "offset": x.storage_offset(), "stride": stride, "contiguous": x.is_contiguous()}


# %% facts_offset_in_bytes
# says: The offset counts bytes; it is to count elements, as x.storage_offset() does.
# says-ko: offset이 바이트 단위입니다. x.storage_offset()처럼 원소 단위여야 합니다.
# earns: 0.5

def storage_facts(x):
    offset = x.element_size() * x.storage_offset()
    return {"size": tuple(x.shape), "offset": offset, "stride": x.stride(), "contiguous": x.is_contiguous()}


# %% facts_offset_zero
# says: The offset is 0 for every view; a view may begin later in the storage: x.storage_offset().
# says-ko: 모든 view의 offset이 0입니다. view는 저장 공간의 중간에서 시작할 수 있습니다: x.storage_offset().
# earns: 0

def storage_facts(x):
    return {"size": tuple(x.shape), "offset": 0, "stride": x.stride(), "contiguous": x.is_contiguous()}


# %% facts_contiguous_last
# says: “contiguous” is True wherever the last stride is 1; with gaps between its rows a tensor
#   is not contiguous.
# says-ko: 마지막 stride가 1이면 “contiguous”가 True입니다. 행 사이에 빈 곳이 있으면 contiguous하지 않습니다.
# earns: 0.5

def storage_facts(x):
    last = x.stride()[-1] if x.dim() else 1
    return {"size": tuple(x.shape), "offset": x.storage_offset(), "stride": x.stride(), "contiguous": last == 1}


# %% facts_size_is_count
# says: The size is the number of elements; the sizes of all dimensions are asked for, as a tuple.
# says-ko: size가 원소의 수입니다. 모든 차원의 크기를 tuple로 나타내야 합니다.
# earns: 0.4

def storage_facts(x):
    return {"size": x.nelement(), "offset": x.storage_offset(), "stride": x.stride(), "contiguous": x.is_contiguous()}


# %% facts_contiguous_copy
# says: Offset, strides and “contiguous” are those of a contiguous copy; ask x itself.
# says-ko: offset, stride, “contiguous”가 contiguous한 복사본의 것입니다. x 자체를 보세요.
# earns: 0.2

def storage_facts(x):
    y = x.contiguous()
    return {"size": tuple(y.shape), "offset": y.storage_offset(), "stride": y.stride(), "contiguous": True}


# %% same_always
# says: Every pair gets True.
# says-ko: 모든 쌍이 True입니다.
# earns: 0

def same_storage(x, y):
    return bool(len(x.shape) >= 0)


# %% same_numbers
# says: Tensors with the same shape and numbers get True, others False: look at the memory, not
#   at the numbers.
# says-ko: shape과 수가 같은 tensor가 True이고 나머지는 False입니다. 수가 아니라 메모리를 보세요.
# earns: 0.2

def same_storage(x, y):
    return x.shape == y.shape and bool((x == y).all())


# %% same_object
# says: Only a tensor and itself get True; a view shares the storage, too.
# says-ko: 같은 tensor일 때만 True입니다. view도 저장 공간을 공유합니다.
# earns: 0.3

def same_storage(x, y):
    return id(x) == id(y)


# %% same_first_entry
# says: True where both begin at the same place in memory; a view may begin later in the storage.
# says-ko: 메모리에서 시작하는 곳이 같을 때 True입니다. view는 저장 공간의 중간에서 시작할 수 있습니다.
# earns: 0.5

def same_storage(x, y):
    return not x.data_ptr() - y.data_ptr()


# %% transpose_all
# says: All dimensions are reversed; only the last two are to be swapped.
# says-ko: 모든 차원이 뒤집혔습니다. 마지막 두 차원만 바꾸어야 합니다.
# earns: 0.6

def transpose_without_copy(x):
    return x.permute(list(range(x.dim()))[::-1])


# %% transpose_by_view
# says: Only the shape is right: the numbers are still in the order in which they came.
# says-ko: shape만 맞습니다. 수는 원래 순서 그대로입니다.
# earns: 0.3

def transpose_without_copy(x):
    return x.flatten().view(*x.shape[:-2], x.shape[-1], x.shape[-2])


# %% squeeze_first_second
# says: “first” has its new dimension second; unsqueeze(0) puts it first.
# says-ko: “first”의 새 차원이 두 번째입니다. unsqueeze(0)이 맨 앞에 둡니다.
# earns: 0.6

def squeeze_unsqueeze(x):
    return {"all": x.squeeze(), "middle": x.squeeze(1), "first": x[:, None], "last": x[..., None]}


# %% squeeze_last_before_end
# says: “last” has its new dimension before the last one; unsqueeze(-1) puts it at the end.
# says-ko: “last”의 새 차원이 마지막 앞에 있습니다. unsqueeze(-1)이 맨 뒤에 둡니다.
# earns: 0.6

def squeeze_unsqueeze(x):
    return {"all": x.squeeze(), "middle": x.squeeze(1), "first": x[None], "last": x[:, :, None]}


# %% squeeze_middle_only
# says: “all” has lost the middle dimension alone; every dimension of size 1 is to go.
# says-ko: “all”에서 가운데 차원만 없앴습니다. 크기가 1인 차원을 모두 없애야 합니다.
# earns: 0.6

def squeeze_unsqueeze(x):
    return {"all": x[:, 0], "middle": x[:, 0], "first": x[None], "last": x[..., None]}


# %% squeeze_drops_all
# says: “middle” has lost every dimension of size 1; only the middle one is to go: squeeze(1).
# says-ko: “middle”에서 크기가 1인 차원을 모두 없앴습니다. 가운데만 없애야 합니다: squeeze(1).
# earns: 0

def squeeze_unsqueeze(x):
    return {"all": x.squeeze(), "middle": x.squeeze(), "first": x[None], "last": x[..., None]}


# %% bridge_two_copies
# says: “shared” did not change with the array, so it is a copy; torch.from_numpy shares the memory.
# says-ko: “shared”가 배열과 함께 바뀌지 않았으니 복사본입니다. torch.from_numpy는 메모리를 공유합니다.
# earns: 0

def numpy_bridge(a):
    return {"shared": torch.from_numpy(a.copy()), "own": torch.tensor(a, dtype=torch.float32)}


# %% bridge_float32_shares
# says: “own” changes with the array where that is float32 already; copy always.
# says-ko: 배열이 이미 float32이면 “own”이 함께 바뀝니다. 언제나 복사하세요.
# earns: 0

def numpy_bridge(a):
    return {"shared": torch.from_numpy(a), "own": torch.from_numpy(a).to(torch.float32)}


# %% bridge_keeps_float64
# says: “own” has the dtype of the array; float32 is asked for.
# says-ko: “own”의 dtype이 배열의 것입니다. float32여야 합니다.
# earns: 0

def numpy_bridge(a):
    return {"shared": torch.from_numpy(a), "own": torch.from_numpy(a.copy())}


# %% bridge_shared_float32
# says: “shared” is float32, and so a copy, where the array is float64.
# says-ko: 배열이 float64이면 “shared”가 float32라서 복사본입니다.
# earns: 0

def numpy_bridge(a):
    shared = torch.from_numpy(a).to(torch.float32)
    return {"shared": shared, "own": shared.clone()}


# %% array_copies
# says: The array did not change with the tensor, so it is a copy; x.detach().numpy() shares the
#   memory.
# says-ko: 배열이 tensor와 함께 바뀌지 않았으니 복사본입니다. x.detach().numpy()는 메모리를 공유합니다.
# earns: 0

def as_numpy(x):
    return x.detach().clone().numpy()


# %% array_flat
# says: The array is flat; it is to keep the shape.
# says-ko: 배열이 1차원입니다. shape을 유지해야 합니다.
# earns: 0.6

def as_numpy(x):
    return x.detach().numpy().reshape(-1)


# %% gpu_home_stays
# says: “home” is still on the GPU: y.to("cpu", torch.float32) brings it back.
# says-ko: “home”이 아직 GPU에 있습니다: y.to("cpu", torch.float32).
# earns: 0

def to_device_and_dtype(x, y):
    return {"like_y": x.to(y), "double": x.cuda().double(), "home": y.float(), "array": y.cpu().numpy()}


# %% gpu_keeps_dtype
# says: The tensors were moved, but keep their dtypes; .to(...) takes a dtype beside the device.
# says-ko: tensor를 옮겼지만 dtype이 그대로입니다. .to(...)에 장치와 함께 dtype을 줄 수 있습니다.
# earns: 0

def to_device_and_dtype(x, y):
    return {"like_y": x.cuda(), "double": x.to("cuda"), "home": y.to("cpu"), "array": y.cpu().numpy()}


# %% gpu_stays_at_home
# says: The dtypes are right, but nothing is on the GPU: “like_y” and “double” belong there.
# says-ko: dtype은 맞지만 GPU에 있는 것이 없습니다. “like_y”와 “double”은 GPU에 있어야 합니다.
# earns: 0

def to_device_and_dtype(x, y):
    home = y.cpu()
    return {"like_y": x.to(home), "double": x.double(), "home": home.float(), "array": home.numpy()}


# %% dtype_of_the_first
# says: This is the dtype of x; the dtype of x + y is asked for.
# says-ko: x의 dtype입니다. x + y의 dtype이어야 합니다.
# earns: 0.4

def choose_dtype(x, y):
    return x.new_zeros(1).dtype


# %% dtype_promotes_numbers
# says: A Python number, or a tensor of rank 0, counts as much as any tensor here;
#   torch.result_type knows better.
# says-ko: Python 수와 rank가 0인 tensor를 다른 tensor와 똑같이 다루었습니다. torch.result_type이 구별합니다.
# earns: 0

def choose_dtype(x, y):
    return torch.promote_types(x.dtype, torch.as_tensor(y).reshape(-1).dtype)


# %% rows_are_columns
# says: You picked columns; the index picks rows.
# says-ko: 열을 골랐습니다. index는 행을 고릅니다.

def rows_at(x, index):
    return x.T[index.long()].T


# %% rows_distinct
# says: Each row comes once, in ascending order; take the index as it is, repeats and all.
# says-ko: 행이 오름차순으로 한 번씩만 있습니다. index의 순서와 반복을 그대로 따르세요.
# earns: 0.5

def rows_at(x, index):
    return x[sorted(set(index.long().tolist()))]


# %% rows_uint8_is_a_mask
# says: A uint8 index is taken for a mask of rows; convert it to int64 first.
# says-ko: uint8 index를 행의 mask로 다루었습니다. 먼저 int64로 바꾸세요.
# earns: 0

def rows_at(x, index):
    return x[index.bool() if index.dtype == torch.uint8 else index.long()]


# %% halves_mean
# says: This is the mean; the sum is asked for.
# says-ko: 평균입니다. 합이어야 합니다.
# earns: 0.6

def sum_of_halves(x):
    return x.float().sum() / x.numel()


# %% halves_double
# says: The sum is float64; float32 is asked for.
# says-ko: 합이 float64입니다. float32여야 합니다.
# earns: 0

def sum_of_halves(x):
    return x.sum(dtype=torch.float64)


# %% halves_stay_halves
# says: The sum is float16, which is infinite above 65504; float32 is asked for.
# says-ko: 합이 float16이라 65504를 넘으면 무한대가 됩니다. float32여야 합니다.
# earns: 0

def sum_of_halves(x):
    return x.sum(dim=0).sum() if x.dim() == 1 else x.flatten().sum()


# %% axes_keeps_channels
# says: The channels are weighted, but not added up.
# says-ko: 채널에 가중치를 곱했지만 더하지 않았습니다.
# earns: 0.5

def named_axes(images, weights):
    return images * weights[:, None, None]


# %% axes_mean
# says: This is the mean of the weighted channels; their sum is asked for.
# says-ko: 가중치를 곱한 채널의 평균입니다. 합이어야 합니다.
# earns: 0.6

def named_axes(images, weights):
    return torch.einsum("...chw,c->...hw", images, weights) / len(weights)


# %% save_double
# says: The file holds float64 tensors only; keep the dtypes.
# says-ko: 파일의 tensor가 모두 float64입니다. dtype을 유지해야 합니다.
# earns: 0

def save_tensors(tensors, path):
    torch.save({name: tensor.to(torch.float64) for name, tensor in tensors.items()}, path)


# %% save_storages
# says: The file holds all of the memory behind each view; clone the tensors before you save them.
# says-ko: 파일에 view 뒤의 메모리가 모두 들어 있습니다. 저장하기 전에 clone하세요.
# earns: 0

def save_tensors(tensors, path):
    torch.save(dict(tensors), path)


# %% load_double
# says: The tensors come back as float64; keep their dtypes.
# says-ko: tensor가 float64로 돌아옵니다. dtype을 유지해야 합니다.
# earns: 0

def load_tensors(path):
    return {name: tensor.to(torch.float64) for name, tensor in torch.load(path, weights_only=True).items()}


# %% load_first
# says: One tensor alone comes back; the dict of all is asked for.
# says-ko: tensor 하나만 돌아옵니다. 모든 tensor의 dict이어야 합니다.
# earns: 0.4

def load_tensors(path):
    return next(iter(torch.load(path, weights_only=True).values()))


# %% hdf5_doubles
# says: The datasets are float64 whatever the tensors are; keep the dtypes.
# says-ko: tensor와 상관없이 dataset이 float64입니다. dtype을 유지해야 합니다.
# earns: 0

def save_hdf5(tensors, path):
    import h5py

    with h5py.File(path, "w") as file:
        for name, tensor in tensors.items():
            file[name] = tensor.detach().numpy().astype("f8")


# %% hdf5_flat
# says: The datasets are vectors; keep the shapes.
# says-ko: dataset이 벡터입니다. shape을 유지해야 합니다.
# earns: 0.6

def save_hdf5(tensors, path):
    import h5py

    with h5py.File(path, "w") as file:
        for name, tensor in tensors.items():
            file[name] = tensor.detach().numpy().reshape(-1)


# %% hdf5_last_only
# says: Only the last tensor is in the file; opening a file with "w" empties it.
# says-ko: 파일에 마지막 tensor만 있습니다. "w"로 열면 파일이 비워집니다.
# earns: 0.4

def save_hdf5(tensors, path):
    import h5py

    name, tensor = list(tensors.items())[-1]
    with h5py.File(path, "w") as file:
        file[name] = tensor.detach().numpy()


# %% read_float32
# says: Everything comes back as float32; keep the dtypes.
# says-ko: 모두 float32로 돌아옵니다. dtype을 유지해야 합니다.
# earns: 0

def load_hdf5(path):
    import h5py

    with h5py.File(path, "r") as file:
        return {name: torch.as_tensor(file[name][...]).float() for name in file}


# %% layer_unscaled
# says: The scale is missing: the output is x @ weight.
# says-ko: scale이 빠졌습니다. 출력이 x @ weight입니다.
# earns: 0.5

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.register_buffer("scale", scale)

    def forward(self, x):
        return x.matmul(self.weight)


# %% layer_trains_the_scale
# says: The scale changes in training; register_buffer keeps what is not trained.
# says-ko: scale이 학습에서 바뀝니다. 학습하지 않는 값은 register_buffer로 둡니다.
# earns: 0

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight, self.scale = nn.Parameter(weight), nn.Parameter(scale)

    def forward(self, x):
        return x @ self.weight * self.scale


# %% layer_plain_scale
# says: The scale is not in the saved state; register_buffer puts it there.
# says-ko: 저장한 상태에 scale이 없습니다. register_buffer가 넣어 줍니다.
# earns: 0

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight, self.scale = nn.Parameter(weight), scale

    def forward(self, x):
        return x @ self.weight * self.scale


# %% gradient_of_the_rows
# says: The divisor is the number of rows; the mean is over all entries of y.
# says-ko: 행의 수로 나누었습니다. y의 모든 원소에 대한 평균입니다.
# right: gradient_by_hand_loop
# earns: 0.7

def gradient_by_hand(x, w, y):
    return gradient_by_hand_loop(x, w, y) * y.shape[1]


# %% gradient_of_the_sum
# says: This is the gradient of the sum of the squares; that of their mean is asked for.
# says-ko: 제곱의 합의 기울기입니다. 평균의 기울기여야 합니다.
# right: gradient_by_hand_loop
# earns: 0.7

def gradient_by_hand(x, w, y):
    return gradient_by_hand_loop(x, w, y) * y.numel()


# %% gradient_without_two
# says: The factor 2 of the derivative of a square is missing.
# says-ko: 제곱의 미분에서 나오는 2가 빠졌습니다.
# right: gradient_by_hand_loop
# earns: 0.7

def gradient_by_hand(x, w, y):
    return gradient_by_hand_loop(x, w, y) / 2


# %% gradient_wrong_sign
# says: The sign is the opposite: the difference is x @ w - y.
# says-ko: 부호가 반대입니다. 차는 x @ w - y입니다.
# right: gradient_by_hand_loop
# earns: 0.7

def gradient_by_hand(x, w, y):
    return -gradient_by_hand_loop(x, w, y)

# %% add_in_place_twice
# says: “in_place” has x twice: add it to y once.
# says-ko: “in_place”에 x가 두 번 들어 있습니다. y에 한 번만 더하세요.
# earns: 0.5

def add_three_ways(x, y, out):
    new = x + y
    torch.add(x, y, out=out)
    y.add_(x).add_(x)
    return {"new": new, "out": out, "in_place": y}


# %% add_out_to_itself
# says: “out” has what stood in out in the sum; it does not matter.
# says-ko: “out”에 원래 있던 값까지 더했습니다. 그 값은 상관없습니다.
# earns: 0.6

def add_three_ways(x, y, out):
    new = x + y
    out += new
    y.add_(x)
    return {"new": new, "out": out, "in_place": y}


# %% add_out_unfilled
# says: “out” is what it was: write the sum into it, torch.add(x, y, out=out).
# says-ko: “out”이 그대로입니다. torch.add(x, y, out=out)로 합을 쓰세요.
# earns: 0.5

def add_three_ways(x, y, out):
    new = x + y
    y.add_(x)
    return {"new": new, "out": out, "in_place": y}


# %% add_y_unchanged
# says: “in_place” is what y was: y.add_(x), or y += x, writes the sum into it.
# says-ko: “in_place”가 원래의 y입니다. y.add_(x)나 y += x로 합을 쓰세요.
# earns: 0.5

def add_three_ways(x, y, out):
    new = x + y
    torch.add(x, y, out=out)
    return {"new": new, "out": out, "in_place": y}


# %% matvec_elementwise
# says: The entries are multiplied one by one and not added up: use mv, mm and matmul.
# says-ko: 항목끼리 곱하고 더하지 않았습니다. mv, mm, matmul을 쓰세요.
# earns: 0.4

def matvec_three_ways(x, v):
    y = x * v
    return y, y.clone(), y.clone()


# %% matvec_a_row
# says: The second result is a row of shape (1, M); a column of shape (M, 1) is asked for.
# says-ko: 둘째 결과가 shape (1, M)인 행입니다. shape (M, 1)인 열이어야 합니다.
# earns: 0.7

def matvec_three_ways(x, v):
    return x.mv(v), x.mv(v)[None], x.matmul(v)


# %% matvec_second_flat
# says: The third result is a column; matmul by a vector gives a vector of shape (M,).
# says-ko: 셋째 결과가 열입니다. 벡터와의 matmul은 shape (M,)인 벡터입니다.
# earns: 0.7

def matvec_three_ways(x, v):
    return x.mv(v), x.mm(v[:, None]), x.matmul(v[:, None])


# %% outer_sum
# says: The numbers are added; multiply them.
# says-ko: 수를 더했습니다. 곱하세요.
# earns: 0.5

def outer_product(v, w):
    return v[:, None] + w


# %% outer_flat
# says: The products stand in one vector; shape (M, N) is asked for.
# says-ko: 곱이 벡터 하나에 있습니다. shape은 (M, N)이어야 합니다.
# earns: 0.6

def outer_product(v, w):
    return (v[:, None] * w).flatten()


# %% outer_squares_v
# says: These are products of v with itself; w is the other vector.
# says-ko: v끼리의 곱입니다. 다른 벡터는 w입니다.
# earns: 0.5

def outer_product(v, w):
    return v[:, None] * v


# %% row_added_twice
# says: v is added twice.
# says-ko: v를 두 번 더했습니다.
# earns: 0.5

def add_row(x, v):
    return x + v + v


# %% row_multiplied
# says: The rows are multiplied by v; add it.
# says-ko: 행에 v를 곱했습니다. 더하세요.
# earns: 0.5

def add_row(x, v):
    return x * v


# %% row_its_sum
# says: The sum of v is added to every entry; add v itself to every row.
# says-ko: 모든 항목에 v의 합을 더했습니다. 행마다 v 자체를 더하세요.
# earns: 0.4

def add_row(x, v):
    return x + v.sum()


# %% row_appended
# says: v stands below x as a new row; add it to every row.
# says-ko: v가 x 아래에 새 행으로 있습니다. 행마다 더하세요.
# earns: 0.4

def add_row(x, v):
    return torch.cat([x, v[None]])


# %% column_appended
# says: w stands beside x as a new column; add it to every column.
# says-ko: w가 x 옆에 새 열로 있습니다. 열마다 더하세요.
# earns: 0.4

def add_column(x, w):
    return torch.cat([x, w[:, None]], dim=1)


# %% column_multiplied
# says: The columns are multiplied by w; add it.
# says-ko: 열에 w를 곱했습니다. 더하세요.
# earns: 0.5

def add_column(x, w):
    return x * w[:, None]


# %% column_transposed
# says: The result is transposed: x.t() + w is to be turned back.
# says-ko: 결과가 전치되어 있습니다. x.t() + w를 다시 돌리세요.
# earns: 0.6

def add_column(x, w):
    return x.t() + w


# %% column_first_only
# says: Only the first column has w added to it; every column is to have it.
# says-ko: 첫 열에만 w를 더했습니다. 모든 열에 더하세요.
# earns: 0.5

def add_column(x, w):
    return torch.cat([x[:, :1] + w[:, None], x[:, 1:]], dim=1)


# %% facts_strides_reversed
# says: The strides are in reverse order: the first is that of the first dimension.
# says-ko: stride의 순서가 거꾸로입니다. 첫째가 첫 차원의 것입니다.
# earns: 0.5

def storage_facts(x):
    return {"size": tuple(x.shape), "offset": x.storage_offset(), "stride": x.stride()[::-1], "contiguous": x.is_contiguous()}


# %% facts_offset_is_an_address
# says: The offset is an address in memory; it is to count elements from the beginning of the storage.
# says-ko: offset이 메모리 주소입니다. storage의 처음부터 센 원소의 수여야 합니다.
# earns: 0.5

def storage_facts(x):
    return {"size": tuple(x.shape), "offset": x.data_ptr(), "stride": x.stride(), "contiguous": x.is_contiguous()}


# %% facts_contiguous_the_other_way
# says: “contiguous” is the other way round.
# says-ko: “contiguous”가 반대입니다.
# earns: 0.5

def storage_facts(x):
    return {"size": tuple(x.shape), "offset": x.storage_offset(), "stride": x.stride(), "contiguous": not x.is_contiguous()}


# %% facts_always_contiguous
# says: “contiguous” is True for every view: x.is_contiguous() tells.
# says-ko: 모든 뷰에서 “contiguous”가 True입니다. x.is_contiguous()가 알려 줍니다.
# earns: 0

def storage_facts(x):
    return {"size": tuple(x.shape), "offset": x.storage_offset(), "stride": x.stride(), "contiguous": x.numel() >= 0}


# %% facts_size_in_bytes
# says: The sizes count bytes; they are to count elements, as x.size() does.
# says-ko: 크기가 바이트 수입니다. x.size()처럼 원소의 수여야 합니다.
# earns: 0.5

def storage_facts(x):
    return {"size": tuple(size * x.element_size() for size in x.shape), "offset": x.storage_offset(), "stride": x.stride(), "contiguous": x.is_contiguous()}


# %% same_never
# says: Every pair gets False.
# says-ko: 모든 쌍이 False입니다.
# earns: 0

def same_storage(x, y):
    return bool(len(x.shape) < 0)


# %% same_the_other_way
# says: The answers are the other way round: True where the storage is shared.
# says-ko: 답이 반대입니다. storage가 같으면 True입니다.
# earns: 0.6

def same_storage(x, y):
    return x.untyped_storage().data_ptr() != y.untyped_storage().data_ptr()


# %% transpose_first_two
# says: The first two dimensions are swapped; the last two are to be: transpose(-2, -1).
# says-ko: 처음 두 차원을 바꾸었습니다. 마지막 두 차원이어야 합니다: transpose(-2, -1).
# earns: 0.6

def transpose_without_copy(x):
    return x.transpose(0, 1)


# %% transpose_first_and_last
# says: The first and the last dimension are swapped; the last two are to be: transpose(-2, -1).
# says-ko: 첫 차원과 마지막 차원을 바꾸었습니다. 마지막 두 차원이어야 합니다: transpose(-2, -1).
# earns: 0.6

def transpose_without_copy(x):
    return x.transpose(0, -1)


# %% squeeze_last_first
# says: “first” and “last” are in each other's places.
# says-ko: “first”와 “last”가 서로 바뀌었습니다.
# earns: 0.6

def squeeze_unsqueeze(x):
    return {"all": x.squeeze(), "middle": x.squeeze(1), "first": x[..., None], "last": x[None]}


# %% squeeze_nothing_in_the_middle
# says: “middle” still has its dimension of size 1: squeeze(1) drops it.
# says-ko: “middle”에 크기 1인 차원이 남아 있습니다. squeeze(1)로 없애세요.

def squeeze_unsqueeze(x):
    return {"all": x.squeeze(), "middle": x, "first": x[None], "last": x[..., None]}


# %% squeeze_first_twice
# says: “first” has two new dimensions; one is asked for.
# says-ko: “first”에 새 차원이 둘입니다. 하나여야 합니다.
# earns: 0.6

def squeeze_unsqueeze(x):
    return {"all": x.squeeze(), "middle": x.squeeze(1), "first": x[None, None], "last": x[..., None]}


# %% bridge_both_share
# says: “own” changes with the array: torch.tensor(a, dtype=torch.float32) copies.
# says-ko: “own”이 배열과 함께 바뀝니다. torch.tensor(a, dtype=torch.float32)는 복사합니다.
# earns: 0.4

def numpy_bridge(a):
    shared = torch.from_numpy(a)
    return {"shared": shared, "own": shared}


# %% bridge_swapped
# says: “shared” and “own” are in each other's places.
# says-ko: “shared”와 “own”이 서로 바뀌었습니다.
# earns: 0.6

def numpy_bridge(a):
    return {"shared": torch.tensor(a, dtype=torch.float32), "own": torch.from_numpy(a)}


# %% dtype_of_the_second
# says: This is the dtype of y; the dtype of x + y is asked for.
# says-ko: y의 dtype입니다. x + y의 dtype이어야 합니다.
# earns: 0.4

def choose_dtype(x, y):
    return torch.as_tensor(y).dtype


# %% dtype_always_float32
# says: This is float32 always; the dtype of x + y is asked for.
# says-ko: 언제나 float32입니다. x + y의 dtype이어야 합니다.
# earns: 0

def choose_dtype(x, y):
    return torch.float32


# %% dtype_of_the_wider
# says: This is the dtype with more bytes; torch.result_type looks at kinds, too.
# says-ko: 바이트가 더 많은 dtype입니다. torch.result_type은 종류도 봅니다.
# earns: 0.4

def choose_dtype(x, y):
    other = torch.as_tensor(y)
    return x.dtype if x.element_size() >= other.element_size() else other.dtype


# %% rows_sorted
# says: The rows come in ascending order; take the index as it is.
# says-ko: 행이 오름차순입니다. 인덱스 그대로 고르세요.
# earns: 0.5

def rows_at(x, index):
    return x[index.long().sort().values]


# %% rows_first_of_all
# says: Only the first row of the index comes back.
# says-ko: 인덱스의 첫 행만 돌아왔습니다.
# earns: 0.4

def rows_at(x, index):
    return x[index.long()[0]]


# %% rows_through_int8
# says: Large numbers of rows are lost, as int8 does above 127: convert the index to int64.
# says-ko: int8처럼 127보다 큰 행 번호를 잃었습니다. 인덱스를 int64로 바꾸세요.
# earns: 0.6

def rows_at(x, index):
    return x[index.to(torch.int8).long() % len(x)]


# %% halves_whole_number
# says: The sum is a whole number, int64; float32 is asked for.
# says-ko: 합이 정수(int64)입니다. float32여야 합니다.
# earns: 0.5

def sum_of_halves(x):
    return x.float().sum().long()


# %% halves_a_number
# says: The sum is a Python number; a tensor of shape () is asked for.
# says-ko: 합이 파이썬 수입니다. shape ()인 텐서여야 합니다.
# earns: 0.7

def sum_of_halves(x):
    return x.float().sum().item()


# %% halves_converted_too_late
# says: The sum is float32, but added up in float16, which ends at 65504: sum(dtype=torch.float32).
# says-ko: 결과는 float32이지만 float16으로 더해서 65504를 넘지 못합니다: sum(dtype=torch.float32).
# earns: 0.5

def sum_of_halves(x):
    return x.sum().float()


# %% axes_unweighted
# says: The channels are added up without their weights.
# says-ko: 가중치 없이 채널을 더했습니다.
# earns: 0.5

def named_axes(images, weights):
    return images.sum(dim=-3)


# %% axes_over_rows
# says: The result has rows and columns swapped: “...hw” is asked for, not “...wh”.
# says-ko: 결과의 행과 열이 바뀌었습니다. “...wh”가 아니라 “...hw”입니다.
# earns: 0.7

def named_axes(images, weights):
    return torch.einsum('...chw,c->...wh', images, weights)


# %% axes_weighted_mean
# says: The sum is divided by that of the weights; leave it undivided.
# says-ko: 합을 가중치의 합으로 나누었습니다. 나누지 마세요.
# earns: 0.6

def named_axes(images, weights):
    return torch.einsum('...chw,c->...hw', images, weights) / weights.sum()


# %% axes_keep_one
# says: The axis of the channels is still there, with size 1; it is to go.
# says-ko: 채널 축이 크기 1로 남아 있습니다. 없애야 합니다.
# earns: 0.7

def named_axes(images, weights):
    return torch.einsum('...chw,c->...hw', images, weights).unsqueeze(-3)


# %% gradient_of_the_columns
# says: The divisor is the number of columns of y; the mean is over all entries.
# says-ko: y의 열의 수로 나누었습니다. 모든 항목에 대한 평균입니다.
# right: gradient_by_hand_loop
# earns: 0.6

def gradient_by_hand(x, w, y):
    return gradient_by_hand_loop(x, w, y) * y.shape[0]


# %% gradient_transposed
# says: The gradient is transposed: it has the shape of w, (N, P).
# says-ko: 기울기가 전치되었습니다. w와 같은 shape (N, P)여야 합니다.
# right: gradient_by_hand_loop
# earns: 0.7

def gradient_by_hand(x, w, y):
    return gradient_by_hand_loop(x, w, y).t()


# %% gradient_of_the_difference
# says: This is the difference x @ w - y; the gradient is x.t() times it, with its factor.
# says-ko: 차 x @ w - y입니다. 기울기는 x.t()와 그것의 곱에 계수를 곱한 것입니다.
# earns: 0.4

def gradient_by_hand(x, w, y):
    return x @ w - y


# %% gradient_is_the_loss
# says: This is the loss; its derivative by w is asked for.
# says-ko: 손실입니다. w에 대한 도함수여야 합니다.
# earns: 0.3

def gradient_by_hand(x, w, y):
    return ((x @ w - y) ** 2).mean()


# %% gradient_forgets_y
# says: y is missing in the difference: x @ w - y.
# says-ko: 차에 y가 없습니다: x @ w - y.
# right: gradient_by_hand_loop
# earns: 0.5

def gradient_by_hand(x, w, y):
    return gradient_by_hand_loop(x, w, 0 * y)


# %% layer_adds_the_scale
# says: The scale is added; multiply by it.
# says-ko: scale을 더했습니다. 곱하세요.
# earns: 0.6

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.register_buffer("scale", scale)

    def forward(self, x):
        return x @ self.weight + self.scale


# %% layer_divides_by_the_scale
# says: The output is divided by the scale; multiply by it.
# says-ko: scale로 나누었습니다. 곱하세요.
# earns: 0.7

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.register_buffer("scale", scale)

    def forward(self, x):
        return x @ self.weight / self.scale


# %% layer_scales_twice
# says: The scale is applied twice.
# says-ko: scale을 두 번 곱했습니다.
# earns: 0.6

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.register_buffer("scale", scale)

    def forward(self, x):
        return self.scale * (x @ (self.weight * self.scale))


# %% layer_nothing_trains
# says: The weight does not train: make it an nn.Parameter.
# says-ko: weight가 학습되지 않습니다. nn.Parameter로 만드세요.
# earns: 0.5

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("scale", scale)

    def forward(self, x):
        return self.scale * (x @ self.weight)


# %% load_unsafe
# says: It loads what runs code: without weights_only=True a file can do anything to whoever opens it.
# says-ko: 코드를 실행하는 것도 불러옵니다. weights_only=True가 없으면 파일이 여는 사람에게 무엇이든 할 수 있습니다.
# earns: 0

def load_tensors(path):
    return torch.load(path, weights_only=False)
