# Wrong ways to write find_classifier. docs/authoring.md explains the cells.

import torch


# %% find_nothing
# All weights are 0.
# expect:
#   questions:
#     find_classifier: {status: failed, checks: {accuracy: wrong_value}}

def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    return torch.zeros(X_train.shape[1], num_classes)


# %% find_the_transpose
# A row for each class, not a column.
# expect:
#   questions:
#     find_classifier: {status: failed, checks: {accuracy: wrong_value}}

def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    return torch.zeros(num_classes, X_train.shape[1])

