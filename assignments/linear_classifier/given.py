"""Runs in the actor, beside the submission; what it says scores nothing by itself."""

_BYTES = 6 * 2**20
"""What stand-ins may send together: a case that sends more than 8 MiB is over."""


def stand_ins(train, predict):
    """Return functions that others answer, by the names that they stand for."""
    left = [_BYTES]

    def spend(*tensors):
        left[0] -= sum(each.numel() * each.element_size() for each in tensors)
        if left[0] < 0:
            raise RuntimeError("more than can be sent")

    def train_linear_classifier(
        loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
    ):
        spend(W, X, y)
        # A function cannot be sent; its name can.
        return train(loss_func.__name__, W, X, y, learning_rate, reg, num_iters, batch_size)

    def predict_linear_classifier(W, X):
        spend(W, X)
        return predict(W, X)

    return {each.__name__: each for each in (train_linear_classifier, predict_linear_classifier)}


def there(module, names):
    """Return those of some names that a module has."""
    return [name for name in names if hasattr(module, name)]
