# Wrong ways to write knn_cross_validate. docs/authoring.md explains the cells.
# right: compute_distances_no_loops, predict_labels, KnnClassifier

import torch


# %% folds_always_five
# Five folds, however many were asked for.
# expect:
#   questions:
#     knn_cross_validate: {status: partial, checks: {accuracies: wrong_type, defaults: ok}}

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    x_folds, y_folds = x_train.chunk(5), y_train.chunk(5)
    num_folds = 5
    k_to_accuracies = {}
    for k in k_choices:
        k_to_accuracies[k] = []
        for i in range(num_folds):
            x_rest = torch.cat([x for j, x in enumerate(x_folds) if j != i])
            y_rest = torch.cat([y for j, y in enumerate(y_folds) if j != i])
            classifier = KnnClassifier(x_rest, y_rest)
            k_to_accuracies[k].append(classifier.check_accuracy(x_folds[i], y_folds[i], k))
    return k_to_accuracies


# %% folds_dealt_out
# Deals the points out in turn instead of cutting the data in order.
# expect:
#   questions:
#     knn_cross_validate: {status: partial, points: 3.6, checks: {accuracies: wrong_value}}

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    x_folds, y_folds = [x_train[i::num_folds] for i in range(num_folds)], [y_train[i::num_folds] for i in range(num_folds)]
    k_to_accuracies = {}
    for k in k_choices:
        k_to_accuracies[k] = []
        for i in range(num_folds):
            x_rest = torch.cat([x for j, x in enumerate(x_folds) if j != i])
            y_rest = torch.cat([y for j, y in enumerate(y_folds) if j != i])
            classifier = KnnClassifier(x_rest, y_rest)
            k_to_accuracies[k].append(classifier.check_accuracy(x_folds[i], y_folds[i], k))
    return k_to_accuracies


# %% folds_default_is_one_k
# k_choices None is taken for k = 1 alone.
# expect:
#   questions:
#     knn_cross_validate: {status: partial, points: 5.3, checks: {accuracies: ok, defaults: wrong_type}}

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1]
    x_folds, y_folds = x_train.chunk(num_folds), y_train.chunk(num_folds)
    k_to_accuracies = {}
    for k in k_choices:
        k_to_accuracies[k] = []
        for i in range(num_folds):
            x_rest = torch.cat([x for j, x in enumerate(x_folds) if j != i])
            y_rest = torch.cat([y for j, y in enumerate(y_folds) if j != i])
            classifier = KnnClassifier(x_rest, y_rest)
            k_to_accuracies[k].append(classifier.check_accuracy(x_folds[i], y_folds[i], k))
    return k_to_accuracies


# %% folds_default_numbers
# The keys of the default choices are right, their values are not: k is capped at 20.
# expect:
#   questions:
#     knn_cross_validate: {status: partial, checks: {accuracies: ok, defaults: wrong_value}}

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    x_folds, y_folds = x_train.chunk(num_folds), y_train.chunk(num_folds)
    k_to_accuracies = {}
    for k in k_choices:
        k_to_accuracies[k] = []
        for i in range(num_folds):
            x_rest = torch.cat([x for j, x in enumerate(x_folds) if j != i])
            y_rest = torch.cat([y for j, y in enumerate(y_folds) if j != i])
            classifier = KnnClassifier(x_rest, y_rest)
            k_to_accuracies[k].append(classifier.check_accuracy(x_folds[i], y_folds[i], min(k, 20)))
    return k_to_accuracies


# %% folds_default_without_100
# The default k of another edition.
# expect:
#   questions:
#     knn_cross_validate: {status: partial, checks: {accuracies: ok, defaults: wrong_type}}

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50]
    x_folds, y_folds = x_train.chunk(num_folds), y_train.chunk(num_folds)
    k_to_accuracies = {}
    for k in k_choices:
        k_to_accuracies[k] = []
        for i in range(num_folds):
            x_rest = torch.cat([x for j, x in enumerate(x_folds) if j != i])
            y_rest = torch.cat([y for j, y in enumerate(y_folds) if j != i])
            classifier = KnnClassifier(x_rest, y_rest)
            k_to_accuracies[k].append(classifier.check_accuracy(x_folds[i], y_folds[i], k))
    return k_to_accuracies


# %% folds_fractions
# Accuracies from 0 to 1.
# expect:
#   questions:
#     knn_cross_validate: {status: partial, points: 4.5, checks: {accuracies: wrong_value}}

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    x_folds, y_folds = x_train.chunk(num_folds), y_train.chunk(num_folds)
    k_to_accuracies = {}
    for k in k_choices:
        k_to_accuracies[k] = []
        for i in range(num_folds):
            x_rest = torch.cat([x for j, x in enumerate(x_folds) if j != i])
            y_rest = torch.cat([y for j, y in enumerate(y_folds) if j != i])
            classifier = KnnClassifier(x_rest, y_rest)
            k_to_accuracies[k].append(classifier.check_accuracy(x_folds[i], y_folds[i], k) / 100)
    return k_to_accuracies


# %% folds_k_forgotten
# Measures k = 1 every time.
# expect:
#   questions:
#     knn_cross_validate: {status: partial, points: 2.4, checks: {accuracies: wrong_value}}

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    x_folds, y_folds = x_train.chunk(num_folds), y_train.chunk(num_folds)
    k_to_accuracies = {}
    for k in k_choices:
        k_to_accuracies[k] = []
        for i in range(num_folds):
            x_rest = torch.cat([x for j, x in enumerate(x_folds) if j != i])
            y_rest = torch.cat([y for j, y in enumerate(y_folds) if j != i])
            classifier = KnnClassifier(x_rest, y_rest)
            k_to_accuracies[k].append(classifier.check_accuracy(x_folds[i], y_folds[i]))
    return k_to_accuracies


# %% folds_means
# One mean for each k instead of the accuracies of all folds.
# expect:
#   questions:
#     knn_cross_validate: {status: partial, code: wrong_type, points: 3.6}

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    x_folds, y_folds = x_train.chunk(num_folds), y_train.chunk(num_folds)
    k_to_accuracies = {}
    for k in k_choices:
        k_to_accuracies[k] = []
        for i in range(num_folds):
            x_rest = torch.cat([x for j, x in enumerate(x_folds) if j != i])
            y_rest = torch.cat([y for j, y in enumerate(y_folds) if j != i])
            classifier = KnnClassifier(x_rest, y_rest)
            k_to_accuracies[k].append(classifier.check_accuracy(x_folds[i], y_folds[i], k))
    return {k: sum(v) / len(v) for k, v in k_to_accuracies.items()}


# %% folds_reversed
# The folds in the opposite order.
# expect:
#   questions:
#     knn_cross_validate: {status: partial, points: 4.2, checks: {accuracies: wrong_value}}

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    x_folds, y_folds = x_train.chunk(num_folds), y_train.chunk(num_folds)
    k_to_accuracies = {}
    for k in k_choices:
        k_to_accuracies[k] = []
        for i in reversed(range(num_folds)):
            x_rest = torch.cat([x for j, x in enumerate(x_folds) if j != i])
            y_rest = torch.cat([y for j, y in enumerate(y_folds) if j != i])
            classifier = KnnClassifier(x_rest, y_rest)
            k_to_accuracies[k].append(classifier.check_accuracy(x_folds[i], y_folds[i], k))
    return k_to_accuracies


# %% folds_shuffles_labels
# Shifts the labels in place.
# expect:
#   questions:
#     knn_cross_validate: {status: partial, checks: {accuracies: ok, unmodified: input_modified}}

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    y_train += 1
    x_folds, y_folds = x_train.chunk(num_folds), y_train.chunk(num_folds)
    k_to_accuracies = {}
    for k in k_choices:
        k_to_accuracies[k] = []
        for i in range(num_folds):
            x_rest = torch.cat([x for j, x in enumerate(x_folds) if j != i])
            y_rest = torch.cat([y for j, y in enumerate(y_folds) if j != i])
            classifier = KnnClassifier(x_rest, y_rest)
            k_to_accuracies[k].append(classifier.check_accuracy(x_folds[i], y_folds[i], k))
    return k_to_accuracies


# %% folds_sorts_choices
# Sorts the list of the caller.
# expect:
#   questions:
#     knn_cross_validate: {status: partial, checks: {accuracies: ok, unmodified: input_modified}}

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    k_choices.sort()
    x_folds, y_folds = x_train.chunk(num_folds), y_train.chunk(num_folds)
    k_to_accuracies = {}
    for k in k_choices:
        k_to_accuracies[k] = []
        for i in range(num_folds):
            x_rest = torch.cat([x for j, x in enumerate(x_folds) if j != i])
            y_rest = torch.cat([y for j, y in enumerate(y_folds) if j != i])
            classifier = KnnClassifier(x_rest, y_rest)
            k_to_accuracies[k].append(classifier.check_accuracy(x_folds[i], y_folds[i], k))
    return k_to_accuracies


# %% folds_stop_early
# One fold is left out.
# expect:
#   questions:
#     knn_cross_validate: {status: partial, points: 4.2, checks: {accuracies: wrong_type}}

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    x_folds, y_folds = x_train.chunk(num_folds), y_train.chunk(num_folds)
    k_to_accuracies = {}
    for k in k_choices:
        k_to_accuracies[k] = []
        for i in range(num_folds - 1):
            x_rest = torch.cat([x for j, x in enumerate(x_folds) if j != i])
            y_rest = torch.cat([y for j, y in enumerate(y_folds) if j != i])
            classifier = KnnClassifier(x_rest, y_rest)
            k_to_accuracies[k].append(classifier.check_accuracy(x_folds[i], y_folds[i], k))
    return k_to_accuracies


# %% folds_train_on_the_test_fold
# Trains on everything, the fold that is tested included.
# expect:
#   questions:
#     knn_cross_validate: {status: partial, points: 2.4, checks: {accuracies: wrong_value}}

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    x_folds, y_folds = x_train.chunk(num_folds), y_train.chunk(num_folds)
    k_to_accuracies = {}
    for k in k_choices:
        k_to_accuracies[k] = []
        for i in range(num_folds):
            x_rest = torch.cat([x for j, x in enumerate(x_folds) ])
            y_rest = torch.cat([y for j, y in enumerate(y_folds)])
            classifier = KnnClassifier(x_rest, y_rest)
            k_to_accuracies[k].append(classifier.check_accuracy(x_folds[i], y_folds[i], k))
    return k_to_accuracies


# %% folds_as_tensors
# The right accuracies as tensors of rank 0: that costs the type's points alone.
# expect:
#   questions:
#     knn_cross_validate: {status: partial, checks: {accuracies: ok, type: wrong_type, defaults: ok, unmodified: ok}}

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    x_folds, y_folds = x_train.chunk(num_folds), y_train.chunk(num_folds)
    k_to_accuracies = {k: [] for k in k_choices}
    for i in range(num_folds):
        x_rest = torch.cat([x for j, x in enumerate(x_folds) if j != i])
        y_rest = torch.cat([y for j, y in enumerate(y_folds) if j != i])
        classifier = KnnClassifier(x_rest, y_rest)
        for k in k_choices:
            accuracy = classifier.check_accuracy(x_folds[i], y_folds[i], k)
            k_to_accuracies[k].append(torch.tensor(accuracy))
    return k_to_accuracies
