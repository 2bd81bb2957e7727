# Moves all points by their mean first, against cancellation: rounds otherwise than the reference.
# expect:
#   questions:
#     compute_distances_no_loops: {status: passed, checks: {values: ok, fast: ok}}


def compute_distances_no_loops(x_train, x_test):
    train, test = x_train.flatten(1), x_test.flatten(1)
    mean = train.mean(0)
    train, test = train - mean, test - mean
    squares = train.square().sum(1, keepdim=True) + test.square().sum(1)
    return squares - 2 * train.mm(test.t())
