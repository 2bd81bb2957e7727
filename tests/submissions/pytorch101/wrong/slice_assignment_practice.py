# Wrong ways to write slice_assignment_practice. docs/authoring.md explains the cells.

import torch


# %% assign_adds
# Adds to what stands there already.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, in_place: ok, six_assignments: ok, one_number_each: forbidden_call}}

def slice_assignment_practice(x):
    x[:4, :6] = 0
    x[:2, 1] = 1
    x[:2, 2:6] += 2
    x[2:4, 0:4:2] += 3
    x[2:4, 1:4:2] += 4
    x[2:4, 4:6] += 5
    return x


# %% assign_chained
# Seven assignments, two of them in one line.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, six_assignments: too_many_calls, one_number_each: ok}}

def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2, 0:4:2] = x[3, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x


# %% assign_copies_slices
# Another part of x on the right, where one number was asked for.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, in_place: ok, six_assignments: ok, one_number_each: forbidden_call}}

def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:6:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = x[2:4, 4:6] * 0 + 5
    return x


# %% assign_copy
# The pattern in a copy.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, in_place: not_in_place}}

def slice_assignment_practice(x):
    x = x.clone()
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x


# %% assign_corner_at_once
# The whole pattern as one tensor.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, in_place: ok, six_assignments: ok, one_number_each: forbidden_call}}

def slice_assignment_practice(x):
    x[:4, :6] = torch.tensor([[0,1,2,2,2,2],[0,1,2,2,2,2],[3,4,3,4,5,5],[3,4,3,4,5,5]])
    return x


# %% assign_eight
# Eight assignments.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, in_place: ok, six_assignments: too_many_calls, one_number_each: ok}}

def slice_assignment_practice(x):
    x[0:2, 0] = 0
    x[0:2, 1] = 1
    x[0:2, 2:6] = 2
    x[2:4, 0] = 3
    x[2:4, 1] = 4
    x[2:4, 2] = 3
    x[2:4, 3] = 4
    x[2:4, 4:6] = 5
    return x


# %% assign_in_numpy
# Writes to the memory of x through numpy.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, in_place: ok, six_assignments: too_few_calls, one_number_each: forbidden_call}}

def slice_assignment_practice(x):
    a = x.numpy()
    a[:2, 0] = 0
    a[:2, 1] = 1
    a[:2, 2:6] = 2
    a[2:4, 0:4:2] = 3
    a[2:4, 1:4:2] = 4
    a[2:4, 4:6] = 5
    return x


# %% assign_in_numpy_for_the_most_part
# One slice of the tensor, and the others through numpy: a person looks.
# expect:
#   questions:
#     slice_assignment_practice: {status: deferred, checks: {values: ok, in_place: ok, one_number_each: needs_review}}

import numpy as np


def slice_assignment_practice(x):
    a = np.asarray(x)
    a[:2, 0] = 0
    a[:2, 1] = 1
    a[:2, 2:6] = 2
    a[2:4, 0:4:2] = 3
    a[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x


# %% assign_by_fill
# Eight slices are filled.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, six_assignments: too_many_calls, one_number_each: ok}}

def slice_assignment_practice(x):
    x[:2, 0].fill_(0)
    x[:2, 1].fill_(1)
    x[:2, 2:6].fill_(2)
    x[2:4, 0].fill_(3)
    x[2:4, 1].fill_(4)
    x[2:4, 2].fill_(3)
    x[2:4, 3].fill_(4)
    x[2:4, 4:6].fill_(5)
    return x


# %% assign_entries
# Single entries: each is one number, and there are too many of them.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, in_place: ok, six_assignments: too_many_calls, one_number_each: ok}}

def slice_assignment_practice(x):
    x[0, 0] = 0
    x[1, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x


# %% assign_entry_of_x
# An entry of x on the right of a seventh assignment, where a number was asked for.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, in_place: ok, six_assignments: too_many_calls, one_number_each: forbidden_call}}

def slice_assignment_practice(x):
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    x[:2, 0] = 0
    x[0, 1] = x[1, 1]
    return x


# %% assign_new_tensor
# A new tensor of zeros with the pattern: whatever was around it is lost.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: wrong_value}}

def slice_assignment_practice(x):
    x = torch.zeros_like(x)
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x


# %% assign_returns_view
# Returns a view of x.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, in_place: not_in_place}}

def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x[:]


# %% assign_tensor
# Tensors on the right, where one number was asked for.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, in_place: ok, six_assignments: ok, one_number_each: forbidden_call}}

def slice_assignment_practice(x):
    x[:2, :6] = torch.tensor([0, 1, 2, 2, 2, 2])
    x[2:4, :6] = torch.tensor([3, 4, 3, 4, 5, 5])
    return x


# %% assign_tensor_at_a_list
# A tensor on the right of an index by a list.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, in_place: ok, six_assignments: ok, one_number_each: forbidden_call}}

def slice_assignment_practice(x):
    x[[0, 1], :6] = torch.tensor([0, 1, 2, 2, 2, 2], dtype=x.dtype)
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x


# %% assign_to_the_last_column
# Writes to the end of the rows, which six columns would not show.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, points: 2.8, checks: {values: wrong_value}}

def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:] = 5
    return x


# %% assign_to_the_last_row
# Writes to the end of the columns, which four rows would not show.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, points: 2.8, checks: {values: wrong_value}}

def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:, 0:4:2] = 3
    x[2:, 1:4:2] = 4
    x[2:, 4:6] = 5
    return x


# %% assign_zero_omitted
# Counts on zeros that are not there.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, points: 2.8, checks: {values: wrong_value}}

def slice_assignment_practice(x):
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x


# %% assign_by_fills
# Six times fill_, of parts that no index gave.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, in_place: ok, six_assignments: too_few_calls, one_number_each: ok}}

def slice_assignment_practice(x):
    top, bottom = x.narrow(0, 0, 2), x.narrow(0, 2, 2)
    top.narrow(1, 0, 1).fill_(0)
    top.narrow(1, 1, 1).fill_(1)
    top.narrow(1, 2, 4).fill_(2)
    torch.ops.aten.slice(bottom, 1, 0, 4, 2).fill_(3)
    torch.ops.aten.slice(bottom, 1, 1, 4, 2).fill_(4)
    bottom.narrow(1, 4, 2).fill_(5)
    return x


# %% assign_returns_nothing
# Writes all that is asked for, and returns nothing: it is written, and one line is missing.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, points: 2.4, checks: {values: returned_nothing}}

def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
