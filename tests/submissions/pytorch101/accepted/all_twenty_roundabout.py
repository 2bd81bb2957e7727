# Long ways round that break no rule.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def create_sample_tensor():
    x = torch.zeros(size=(3, 2), dtype=torch.int64)
    x[0][1] += 10
    x[1][0] += 100
    return x


def mutate_tensor(x, indices, values):
    pairs = list(zip(indices, values))
    [x.__setitem__(index, value) for index, value in pairs]
    return x


def count_tensor_elements(x):
    return len(x.reshape(-1))


def create_tensor_of_pi(M, N):
    return torch.tensor([[3.14] * N] * M)


def multiples_of_ten(start, stop):
    out = []
    n = start
    while n <= stop:
        if n % 10 == 0:
            out.append(float(n))
        n += 1
    return torch.tensor(out, dtype=torch.float64)


def slice_indexing_practice(x):
    rows, columns = x.shape
    return (
        x[rows - 1],
        x[0:rows, 2:3],
        x[:-rows + 2, : 3 - columns] if rows > 2 else x[:2, :3],
        x[0:rows:2, 1:columns:2],
    )


def slice_assignment_practice(x):
    for value, rows, columns in (
        (0, slice(0, 2), 0),
        (1, slice(0, 2), 1),
        (2, slice(0, 2), slice(2, 6)),
        (3, slice(2, 4), slice(0, 4, 2)),
        (4, slice(2, 4), slice(1, 4, 2)),
        (5, slice(2, 4), slice(4, 6)),
    ):
        x[rows, columns] = value
    return x


def shuffle_cols(x):
    columns = [0] * 2
    columns += [2, 1]
    return x[:, columns]


def reverse_rows(x):
    rows = -torch.arange(1, x.shape[0] + 1)
    return x[rows]


def take_one_elem_per_col(x):
    index = torch.tensor([[1, 0], [0, 1], [3, 2]])
    return x[index.t()[0], index.t()[1]] if False else x[[1, 0, 3], [0, 1, 2]]


def make_one_hot(x):
    labels = torch.tensor(x).reshape(-1, 1)
    return (labels == torch.arange(max(x) + 1)).to(torch.float32)


def sum_positive_entries(x):
    mask = (x > 0).to(x.dtype)
    return (x * mask).sum().item()


def reshape_practice(x):
    return x.view(2, 12).t().reshape(3, 4, 2).permute(0, 2, 1).reshape(3, 8)


def zero_row_min(x):
    least = x.min(dim=1, keepdim=True).values
    return torch.where(x == least, torch.zeros_like(x), x)


def batched_matrix_multiply_loop(x, y):
    out = torch.empty(len(x), x.size(1), y.size(2)).to(x)
    batch = 0
    while batch < len(x):
        out[batch, :, :] = torch.einsum("ij,jk->ik", x[batch], y[batch])
        batch += 1
    return out


def batched_matrix_multiply_noloop(x, y):
    return torch.baddbmm(x.new_zeros(x.shape[0], x.shape[1], y.shape[2]), x, y)


def normalize_columns(x):
    y = x.clone()
    y -= torch.sum(x, 0) / len(x)
    y /= torch.sqrt(torch.sum(y * y, 0) / (len(x) - 1))
    return y


def mm_on_gpu(x, w):
    a = x.to("cuda:0")
    b = w.to("cuda:0")
    return a.matmul(b).to(x.device)


def challenge_mean_tensors(xs, ls):
    owner = torch.arange(len(xs)).repeat_interleave(ls)
    sums = torch.bincount(owner, weights=torch.cat(xs).double(), minlength=len(xs))
    return (sums / ls).to(torch.float32)


def challenge_get_uniques(x):
    values, order = x.sort(stable=True)
    starts = torch.nonzero(values != values.roll(1)).flatten()
    if len(starts) == 0 or starts[0] != 0:
        starts = torch.cat([torch.zeros(1, dtype=torch.int64), starts])
    return values[starts], order[starts]
