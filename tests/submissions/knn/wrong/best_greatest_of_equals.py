# Of equal means, the greatest k.
# expect:
#   questions:
#     knn_get_best_k: {status: partial, checks: {best: ok, ties: wrong_value}}

import torch


def knn_get_best_k(k_to_accuracies):
    best_k, best = 0, 0
    for k in sorted(k_to_accuracies):
        mean = sum(k_to_accuracies[k]) / len(k_to_accuracies[k])
        if mean >= best:
            best_k, best = k, mean
    return best_k
