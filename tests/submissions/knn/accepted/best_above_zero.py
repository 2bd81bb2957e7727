# Begins with a best mean of 0: told where all means are 0, where the best is disputed.
# expect:
#   questions:
#     knn_get_best_k: {status: passed, checks: {all_zero: wrong_value}}
#     "*": {status: passed}

def knn_get_best_k(k_to_accuracies):
    best_k, best = 0, 0.0
    for k in sorted(k_to_accuracies):
        mean = sum(k_to_accuracies[k]) / len(k_to_accuracies[k])
        if mean > best:
            best, best_k = mean, k
    return best_k
