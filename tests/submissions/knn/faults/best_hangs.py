# Never comes to an end. Two cases show it; those after them are not run.
# expect:
#   questions:
#     knn_get_best_k: {status: failed, checks: {best: timed_out, ties: requirement_not_met}}


def knn_get_best_k(k_to_accuracies):
    while True:
        k_to_accuracies = dict(k_to_accuracies)
