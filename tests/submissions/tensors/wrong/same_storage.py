# Wrong ways to write same_storage. docs/authoring.md explains the cells.

import torch


# %% same_always
# Says yes to everything.
# expect:
#   questions:
#     same_storage: {status: failed, code: wrong_value}

def same_storage(x, y):
    return True


# %% same_base
# Follows _base, which knows nothing of a storage that is shared through NumPy.
# expect:
#   questions:
#     same_storage: {status: failed, code: wrong_value}

def same_storage(x, y):
    def owner(tensor):
        return tensor if tensor._base is None else tensor._base

    return owner(x) is owner(y)


# %% same_first_entry
# Compares the addresses of the first entries.
# expect:
#   questions:
#     same_storage: {status: partial, code: wrong_value}

def same_storage(x, y):
    return x.data_ptr() == y.data_ptr()


# %% same_numbers
# Asks whether the numbers are equal.
# expect:
#   questions:
#     same_storage: {status: partial, code: wrong_value}

def same_storage(x, y):
    return x.shape == y.shape and torch.equal(x, y)


# %% same_object
# Asks whether the two are one object.
# expect:
#   questions:
#     same_storage: {status: partial, code: wrong_value}

def same_storage(x, y):
    return x is y
