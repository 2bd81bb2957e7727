# Wrong ways to write find_classifier. docs/authoring.md explains the cells.
# right: softmax_loss_vectorized, sample_batch, train_linear_classifier, predict_linear_classifier

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


# %% find_rows_as_they_come
# Columns of very different size go into training as they are.
# expect:
#   questions:
#     find_classifier: {status: failed, checks: {accuracy: wrong_value}}

def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    start = torch.zeros(X_train.shape[1], num_classes)
    return train_linear_classifier(softmax_loss_vectorized, start, X_train, y_train, 1e-4)[0]


# %% find_the_worst_choice
# Keeps the rate that is worst on the validation rows.
# expect:
#   questions:
#     find_classifier: {status: partial, checks: {accuracy: wrong_value}}

def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    spread, found = X_train.std(dim=0), []
    for rate in (0.02, 0.1, 0.5):
        W = torch.zeros(X_train.shape[1], num_classes)
        W, _ = train_linear_classifier(softmax_loss_vectorized, W, X_train / spread, y_train, rate, 1e-4, 300)
        W = W / spread[:, None]
        found.append(((predict_linear_classifier(W, X_val) == y_val).sum(), W))
    return min(found, key=lambda each: each[0])[1]


# %% find_too_short_a_step
# One rate, and a far too short one; nothing is chosen.
# expect:
#   questions:
#     find_classifier: {status: partial, checks: {accuracy: wrong_value}}

def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    spread = X_train.std(dim=0)
    W = torch.zeros(X_train.shape[1], num_classes)
    W, _ = train_linear_classifier(softmax_loss_vectorized, W, X_train / spread, y_train, 1e-4)
    return W / spread[:, None]


# %% find_too_strong
# So much regularisation that the weights stay small.
# expect:
#   questions:
#     find_classifier: {status: failed, checks: {accuracy: wrong_value}}

def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    spread = X_train.std(dim=0)
    W = torch.zeros(X_train.shape[1], num_classes)
    W, _ = train_linear_classifier(softmax_loss_vectorized, W, X_train / spread, y_train, 0.3, 1.0, 300)
    return W / spread[:, None]
