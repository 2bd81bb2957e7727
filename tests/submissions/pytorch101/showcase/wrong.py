# Two usual slips: float64 lost through torch.zeros, and a divisor that is M instead of M - 1.
# expect:
#   score: 62
#   questions:
#     batched_matrix_multiply_loop: {status: partial, checks: {product: ok, float64: wrong_value, dtype: wrong_dtype}}
#     normalize_columns: {status: partial, code: wrong_value, points: 2.5}
#     "*": {status: passed}

import torch
from torch import Tensor


def batched_matrix_multiply_loop(x: Tensor, y: Tensor) -> Tensor:
    """Multiply each matrix of one batch by its partner, one pair at a time."""
    z = torch.zeros(x.shape[0], x.shape[1], y.shape[2])
    for i in range(x.shape[0]):
        z[i] = x[i].mm(y[i])
    return z


def batched_matrix_multiply_noloop(x: Tensor, y: Tensor) -> Tensor:
    """Multiply each matrix of one batch by its partner, all pairs at once."""
    return x.bmm(y)


def normalize_columns(x: Tensor) -> Tensor:
    """Shift and scale each column to mean 0 and standard deviation 1."""
    rows = x.shape[0]
    centred = x - x.sum(dim=0) / rows
    return centred / ((centred**2).sum(dim=0) / rows).sqrt()


def mm_on_gpu(x: Tensor, w: Tensor) -> Tensor:
    """Multiply two matrices on the GPU and bring the product back."""
    return x.cuda().mm(w.cuda()).cpu()


def create_sample_tensor():
    return torch.tensor([[0, 10], [100, 0], [0, 0]])


def mutate_tensor(x, indices, values):
    for (i, j), v in zip(indices, values):
        x[i, j] = v
    return x


def count_tensor_elements(x):
    n = 1
    for s in x.shape:
        n *= s
    return n


def create_tensor_of_pi(M, N):
    return torch.full((M, N), 3.14)


def multiples_of_ten(start, stop):
    return torch.tensor([n for n in range(start, stop + 1) if n % 10 == 0], dtype=torch.float64)


def slice_indexing_practice(x):
    return x[-1], x[:, 2:3], x[:2, :3], x[::2, 1::2]


def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:3:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x


def shuffle_cols(x):
    return x[:, [0, 0, 2, 1]]


def reverse_rows(x):
    return x[[i for i in range(x.shape[0] - 1, -1, -1)]]


def take_one_elem_per_col(x):
    return x[[1, 0, 3], [0, 1, 2]]


def make_one_hot(x):
    return torch.nn.functional.one_hot(torch.tensor(x)).float()


def sum_positive_entries(x):
    return x[x > 0].sum().item()


def reshape_practice(x):
    return x.view(2, 3, 4).transpose(0, 1).reshape(3, 8)


def zero_row_min(x):
    y = x.clone()
    y[torch.arange(x.shape[0]), x.argmin(dim=1)] = 0
    return y


def challenge_mean_tensors(xs, ls):
    return torch.nn.utils.rnn.pad_sequence(xs, batch_first=True).sum(dim=1) / ls


def challenge_get_uniques(x):
    v, i = torch.sort(x, stable=True)
    keep = torch.cat([torch.tensor([True]), v[1:] != v[:-1]])
    return v[keep], i[keep]
