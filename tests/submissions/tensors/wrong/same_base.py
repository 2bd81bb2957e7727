# Follows _base, which knows nothing of a storage that is shared through NumPy.
# expect:
#   questions:
#     same_storage: {status: failed, code: wrong_value}

import torch


def same_storage(x, y):
    def owner(tensor):
        return tensor if tensor._base is None else tensor._base

    return owner(x) is owner(y)
