# Empties the dict that it got.
# expect:
#   questions:
#     knn_get_best_k: {status: partial, checks: {best: ok, ties: ok, unmodified: input_modified}}

def knn_get_best_k(k_to_accuracies):
    means = {k: sum(v)/len(v) for k, v in k_to_accuracies.items()}
    k_to_accuracies.clear()
    m = max(means.values())
    return min(k for k in means if means[k] == m)
