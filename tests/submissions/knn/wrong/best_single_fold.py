# The best single fold wins.
# expect:
#   questions:
#     knn_get_best_k: {status: failed, checks: {best: wrong_value}}

import torch


def knn_get_best_k(k_to_accuracies):
    return max(sorted(k_to_accuracies), key=lambda k: max(k_to_accuracies[k]))
