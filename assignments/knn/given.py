"""Runs in the actor, beside the submission; what it says scores nothing by itself."""

from contextlib import suppress


class Given:
    """What the starter gives of the classifier, for a submission that has lost it."""

    def check_accuracy(self, x_test, y_test, k=1, quiet=False):  # noqa: ARG002  nothing is printed
        """Return how many percent of the labels are predicted rightly."""
        return 100.0 * int((self.predict(x_test, k=k) == y_test).sum()) / len(y_test)


def classifier(module, predict):
    """Return the submission's classifier with predictions that another function makes."""
    own = getattr(module, "KnnClassifier", None)

    class KnnClassifier(*([own] if isinstance(own, type) else []), Given):
        """Remembers what it was made of, whatever the submission's does."""

        def __init__(self, x_train, y_train):
            self._shown = x_train, y_train
            # Its other methods may look for what its constructor leaves.
            with suppress(Exception):
                super().__init__(x_train, y_train)

        def predict(self, x_test, k=1, *_, **__):
            """Predict by what this was made of; further arguments are the submission's own."""
            return predict(*self._shown, x_test, k)

    return KnnClassifier
