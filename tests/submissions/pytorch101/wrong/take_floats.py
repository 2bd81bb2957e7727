# Collects the entries as Python floats.
# expect:
#   questions:
#     take_one_elem_per_col: {status: partial, checks: {dtype: wrong_dtype}}

import torch


def take_one_elem_per_col(x):
    rows, columns = [1, 0, 3], [0, 1, 2]
    return torch.tensor([float(number) for number in x[rows, columns]], dtype=torch.float64)
