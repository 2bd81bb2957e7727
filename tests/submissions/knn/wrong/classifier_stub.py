# predict left as the starter has it.
# expect:
#   questions:
#     KnnClassifier: {status: failed, code: not_implemented}

import torch


class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.x_train, self.y_train = x_train, y_train

    def predict(self, x_test, k=1):
        raise NotImplementedError("predict is not written yet")
