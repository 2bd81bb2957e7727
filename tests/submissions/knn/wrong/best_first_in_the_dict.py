# Of equal means, the first in the dict.
# expect:
#   questions:
#     knn_get_best_k: {status: partial, checks: {best: ok, ties: wrong_value}}

import torch


def knn_get_best_k(k_to_accuracies):
    return max(k_to_accuracies, key=lambda k: sum(k_to_accuracies[k]) / len(k_to_accuracies[k]))
