# Unpacks two sizes, which other ranks do not have.
# expect:
#   questions:
#     count_tensor_elements: {status: failed, code: raised}

import torch


def count_tensor_elements(x):
    rows, columns = x.shape
    return rows * columns
