# Prints, asserts, dead code after the return; docstrings in Korean and Chinese; two spaces.
# expect:
#   questions:
#     "*": {status: passed}

from this import d
from cmath import pi
from torch import Tensor, col_indices_copy
import time
import numpy as np
import torch

print("hello from the import")


def create_sample_tensor():
  """텐서를 만든다."""
  x = torch.zeros(6)
  x[1], x[2] = 10, 100
  x = x.reshape(3, 2)
  print(x)
  return x


def mutate_tensor(x, indices, values):
  """就地修改。"""
  assert len(indices) == len(values)
  for n, (i, j) in enumerate(indices):
    x[i][j] = values[n]
  print("mutated:", x)
  return x
  return None


def count_tensor_elements(x):
  num_elements = 1
  dims = tuple(s for s in x.shape)
  for s in dims:
    num_elements = num_elements * s
  print(f"{num_elements=}")
  return num_elements


def create_tensor_of_pi(M, N):
  x = torch.torch.zeros(M, N) + 3.14
  return x


def multiples_of_ten(start, stop):
  assert start <= stop
  x = torch.arange(start, stop + 1, dtype=torch.float64)
  x = x[x % 10 == 0]
  print(x)
  return x
  x = None


def slice_indexing_practice(x):
  assert x.shape[0] >= 3 and x.shape[1] >= 5
  last_row = x[-1, :]
  third_col = x[:, 2:3]
  first_two_rows_three_cols = x[:2, :3]
  even_rows_odd_cols = x[::2, 1::2]
  out = (last_row, third_col, first_two_rows_three_cols, even_rows_odd_cols)
  print(out)
  return out


def slice_assignment_practice(x):
  print(f"before: {x}")
  x[:2, 0] = 0
  x[:2, 1] = 1
  x[:2, 2:6] = 2
  x[2:4, :4] = 3
  x[2:4, 1:4:2] = 4
  x[2:4, 4:6] = 5
  print(f"after: {x}")
  return x


def shuffle_cols(x):
  y = x[:, np.array([0, 0, 2, 1])]
  print(y)
  return y


def reverse_rows(x):
  y = x[np.arange(x.shape[0])[::-1].copy()]
  print(y, y.shape)
  return y


def take_one_elem_per_col(x):
  y = x[np.array([1, 0, 3]), np.array([0, 1, 2])]
  print("{}".format(y))
  return y


def make_one_hot(x):
  N, C = len(x), max(x) + 1
  y = torch.zeros(N, C, dtype=torch.float)
  y[list(range(N)), list(x)] = 1.0
  print(y)
  return y


def sum_positive_entries(x):
  pos = x[x > 0]
  print(pos)
  return pos.sum().item()


def reshape_practice(x):
  y = x.reshape(-1, 3, 4)
  y = y.movedim(0, 1)
  print(y)
  return y.flatten(1)


def zero_row_min(x):
  y = x.clone()
  m = x.min(dim=1, keepdim=True)[0]
  y[x == m] = 0
  print(y)
  return y


def batched_matrix_multiply_loop(x, y):
  start = time.time()
  z = None
  for i in range(x.shape[0]):
    zi = torch.mm(x[i], y[i]).unsqueeze(0)
    z = zi if z is None else torch.cat((z, zi), dim=0)
  print("took", time.time() - start)
  return z


def batched_matrix_multiply_noloop(x, y):
  z = torch.matmul(x, y)
  print(z)
  return z
  for i in range(3):
    pass


def normalize_columns(x):
  M, N = x.shape
  total = torch.ones(1, M, dtype=x.dtype) @ x
  mean = total / M
  std = (torch.ones(1, M, dtype=x.dtype) @ (x - mean) ** 2 / (M - 1)).sqrt()
  print(mean, std)
  return (x - mean) / std


def mm_on_gpu(x, w):
  x, w = x.cuda(), w.cuda()
  y = x.mm(w)
  print(y.device)
  return y.cpu()


def challenge_mean_tensors(xs, ls):
  flat = torch.cat(xs).double()
  total = torch.cat([torch.zeros(1, dtype=torch.float64), flat.cumsum(0)])
  end = torch.cumsum(ls, 0)
  y = (total[end] - total[end - ls]) / ls
  print(y)
  return y.float()


def challenge_get_uniques(x):
  s, idx = torch.sort(x, stable=True)
  mask = torch.cat((torch.ones(1), torch.diff(s))) != 0
  print(s[mask])
  return s[mask], idx[mask]
