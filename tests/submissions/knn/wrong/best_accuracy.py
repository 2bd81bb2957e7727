# The best mean instead of its k.
# expect:
#   questions:
#     knn_get_best_k: {status: failed, checks: {best: wrong_value}}

import torch


def knn_get_best_k(k_to_accuracies):
    return max(sum(values) / len(values) for values in k_to_accuracies.values())
