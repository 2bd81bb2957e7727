# Wrong ways to write predict_linear_classifier. docs/authoring.md explains the cells.

import torch


# %% predict_the_lowest
# The class with the lowest score.
# expect:
#   questions:
#     predict_linear_classifier: {status: partial, points: 1.2, checks: {labels: wrong_value}}

def predict_linear_classifier(W, X):
    return (X @ W).argmin(dim=1)


# %% predict_the_score
# The highest score itself.
# expect:
#   questions:
#     predict_linear_classifier: {status: partial, points: 1.5, checks: {labels: wrong_value}}

def predict_linear_classifier(W, X):
    return (X @ W).amax(dim=1)


# %% predict_in_floats
# Labels as float32.
# expect:
#   questions:
#     predict_linear_classifier: {status: partial, checks: {labels: ok, dtype: wrong_dtype}}

def predict_linear_classifier(W, X):
    return (X @ W).argmax(dim=1).float()


# %% predict_normalises_the_rows
# Divides the rows, where they lie.
# expect:
#   questions:
#     predict_linear_classifier: {status: partial, checks: {labels: ok, unmodified: input_modified}}

def predict_linear_classifier(W, X):
    X /= X.norm(dim=1, keepdim=True)
    return (X @ W).argmax(dim=1)

