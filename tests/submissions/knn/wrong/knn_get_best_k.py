# Wrong ways to write knn_get_best_k. docs/authoring.md explains the cells.

import torch


# %% best_accuracy
# The best mean instead of its k.
# expect:
#   questions:
#     knn_get_best_k: {status: partial, points: 1.2, checks: {best: wrong_value}}

def knn_get_best_k(k_to_accuracies):
    return max(sum(values) / len(values) for values in k_to_accuracies.values())


# %% best_empties_the_dict
# Empties the dict that it got.
# expect:
#   questions:
#     knn_get_best_k: {status: partial, checks: {best: ok, ties: ok, unmodified: input_modified}}

def knn_get_best_k(k_to_accuracies):
    means = {k: sum(v)/len(v) for k, v in k_to_accuracies.items()}
    k_to_accuracies.clear()
    m = max(means.values())
    return min(k for k in means if means[k] == m)


# %% best_first_in_the_dict
# Of equal means, the first in the dict.
# expect:
#   questions:
#     knn_get_best_k: {status: partial, points: 2.5, checks: {best: ok, ties: wrong_value}}

def knn_get_best_k(k_to_accuracies):
    return max(k_to_accuracies, key=lambda k: sum(k_to_accuracies[k]) / len(k_to_accuracies[k]))


# %% best_last_in_the_dict
# Of equal means, the last in the dict.
# expect:
#   questions:
#     knn_get_best_k: {status: partial, points: 2.5, checks: {best: ok, ties: wrong_value}}

def knn_get_best_k(k_to_accuracies):
    best_k, best = 0, 0.0
    for k, values in k_to_accuracies.items():
        mean = sum(values) / len(values)
        if mean >= best:
            best_k, best = k, mean
    return best_k


# %% best_greatest_of_equals
# Of equal means, the greatest k.
# expect:
#   questions:
#     knn_get_best_k: {status: partial, points: 2.5, checks: {best: ok, ties: wrong_value}}

def knn_get_best_k(k_to_accuracies):
    best_k, best = 0, 0
    for k in sorted(k_to_accuracies):
        mean = sum(k_to_accuracies[k]) / len(k_to_accuracies[k])
        if mean >= best:
            best_k, best = k, mean
    return best_k


# %% best_single_fold
# The best single fold wins.
# expect:
#   questions:
#     knn_get_best_k: {status: partial, points: 1.2, checks: {best: wrong_value}}

def knn_get_best_k(k_to_accuracies):
    return max(sorted(k_to_accuracies), key=lambda k: max(k_to_accuracies[k]))


# %% best_k_as_a_tensor
# The right k as a tensor of rank 0: that costs the type's points alone.
# expect:
#   questions:
#     knn_get_best_k: {status: partial, checks: {best: ok, type: wrong_type, ties: ok, unmodified: ok}}

def knn_get_best_k(k_to_accuracies):
    choices = sorted(k_to_accuracies)
    means = [sum(k_to_accuracies[k]) / len(k_to_accuracies[k]) for k in choices]
    return torch.tensor(choices)[means.index(max(means))]


# %% best_without_folds_of_zero
# A fold of 0 is taken for one that is missing.
# expect:
#   questions:
#     knn_get_best_k: {status: partial, checks: {best: wrong_value}}

def knn_get_best_k(k_to_accuracies):
    means = {}
    for k, values in k_to_accuracies.items():
        found = [value for value in values if value]
        means[k] = sum(found) / max(len(found), 1)
    return min(means, key=lambda k: (-means[k], k))


# %% best_without_k_that_had_a_zero
# A k is left out that once had nothing right.
# expect:
#   questions:
#     knn_get_best_k: {status: partial, checks: {best: wrong_value}}

def knn_get_best_k(k_to_accuracies):
    kept = {k: values for k, values in k_to_accuracies.items() if all(values)} or k_to_accuracies
    return min(kept, key=lambda k: (-sum(kept[k]) / len(kept[k]), k))
