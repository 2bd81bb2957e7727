# Never looks at k.
# expect:
#   questions:
#     predict_labels: {status: failed}

import torch


def predict_labels(dists, y_train, k=1):
    return y_train[dists.argmin(dim=0)]
