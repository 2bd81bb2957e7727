# Loops behind builtins whose names are put together at run time: the text shows none.
# expect:
#   questions:
#     # No size grows where it is counted: the clock and a loop in the text leave it to a person.
#     challenge_get_uniques: {checks: {no_loops: needs_review}}
#     "*": {checks: {no_loops: loop_found}}

import builtins
import functools

import torch

each = getattr(builtins, "m" + "ap")
fold = getattr(functools, "re" + "duce")


def make_one_hot(x):
    columns = torch.arange(max(x) + 1)
    return torch.stack(list(each(lambda number: (columns == number).float(), x)))


def sum_positive_entries(x):
    def add(total, number):
        return total + number.item() * (number > 0).item()

    return fold(add, x.flatten(), 0)


def zero_row_min(x):
    def without(row):
        row = row.clone()
        row[row.argmin()] = 0
        return row

    return torch.stack(list(each(without, x)))


def normalize_columns(x):
    def normal(column):
        centred = column - column.sum() / len(column)
        return centred / ((centred**2).sum() / (len(column) - 1)).sqrt()

    return torch.stack(list(each(normal, x.t())), dim=1)


def challenge_get_uniques(x):
    places = {}

    def note(i):
        places.setdefault(x[i].item(), i)

    list(each(note, range(len(x))))
    return torch.tensor(list(places)), torch.tensor(list(places.values()))
