# Right ways to write find_classifier. docs/authoring.md explains the cells.

import torch


# %% find_by_least_squares
# No training at all: least squares for one column a class.
# expect:
#   questions:
#     "*": {status: passed}

def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    wanted = torch.nn.functional.one_hot(y_train, num_classes).double()
    return torch.linalg.lstsq(X_train.double(), wanted - 1 / num_classes).solution.float()
