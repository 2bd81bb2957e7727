# Known mistakes of knn. docs/authoring.md explains the cells.

import torch

DEFAULTS = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]


def measured(x_train, y_train, num_folds, k_choices, leave_out=True):
    """Return what knn_cross_validate is asked for, with or without its own fold to train on."""
    x_parts, y_parts = x_train.chunk(num_folds), y_train.chunk(num_folds)
    found = {k: [] for k in k_choices}
    for fold in range(num_folds):
        rest = [part for part in range(num_folds) if part != fold or not leave_out]
        x_rest, y_rest = (torch.cat([parts[i] for i in rest]) for parts in (x_parts, y_parts))
        classifier = KnnClassifier(x_rest, y_rest)
        for k in k_choices:
            found[k].append(classifier.check_accuracy(x_parts[fold], y_parts[fold], k))
    return found


# %% two_rooted
# says: These are the distances themselves; their squares are asked for, so take no root.
# says-ko: 거리 자체입니다. 거리의 제곱이 필요하므로 제곱근을 구하지 마세요.
# earns: 0.6
# right: compute_distances_one_loop

def compute_distances_two_loops(x_train, x_test):
    return compute_distances_one_loop(x_train, x_test).sqrt()


# %% two_absolute
# says: You added up the absolute differences; their squares are asked for.
# says-ko: 차의 절댓값을 더했습니다. 차의 제곱을 더해야 합니다.
# earns: 0.5

def compute_distances_two_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a[:, None] - b).abs().sum(dim=2)


# %% two_mean
# says: This is the mean of the squared differences; their sum is asked for.
# says-ko: 차의 제곱의 평균입니다. 합이어야 합니다.
# earns: 0.7

def compute_distances_two_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a[:, None] - b).square().mean(dim=2)


# %% two_transposed
# says: Rows and columns are swapped: training points are the rows, test points the columns.
# says-ko: 행과 열이 바뀌었습니다. 행이 훈련 점이고 열이 시험 점입니다.
# earns: 0.7
# right: compute_distances_one_loop

def compute_distances_two_loops(x_train, x_test):
    return compute_distances_one_loop(x_test, x_train)


# %% two_always_float32
# says: float64 points come back as float32; torch.zeros(...) without a dtype, for one, makes float32.
# says-ko: float64 점의 결과가 float32입니다. 예를 들어 dtype 없는 torch.zeros(...)는 float32를 만듭니다.
# earns: 0
# right: compute_distances_one_loop

def compute_distances_two_loops(x_train, x_test):
    return compute_distances_one_loop(x_train, x_test).float()


# %% one_rooted
# says: These are the distances themselves; their squares are asked for, so take no root.
# says-ko: 거리 자체입니다. 거리의 제곱이 필요하므로 제곱근을 구하지 마세요.
# earns: 0.6
# right: compute_distances_two_loops

def compute_distances_one_loop(x_train, x_test):
    return compute_distances_two_loops(x_train, x_test).sqrt()


# %% one_absolute
# says: You added up the absolute differences; their squares are asked for.
# says-ko: 차의 절댓값을 더했습니다. 차의 제곱을 더해야 합니다.
# earns: 0.5

def compute_distances_one_loop(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a[:, None] - b).abs().sum(dim=2)


# %% one_mean
# says: This is the mean of the squared differences; their sum is asked for.
# says-ko: 차의 제곱의 평균입니다. 합이어야 합니다.
# earns: 0.7

def compute_distances_one_loop(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a[:, None] - b).square().mean(dim=2)


# %% one_transposed
# says: Rows and columns are swapped: training points are the rows, test points the columns.
# says-ko: 행과 열이 바뀌었습니다. 행이 훈련 점이고 열이 시험 점입니다.
# earns: 0.7
# right: compute_distances_two_loops

def compute_distances_one_loop(x_train, x_test):
    return compute_distances_two_loops(x_test, x_train)


# %% one_always_float32
# says: float64 points come back as float32; torch.zeros(...) without a dtype, for one, makes float32.
# says-ko: float64 점의 결과가 float32입니다. 예를 들어 dtype 없는 torch.zeros(...)는 float32를 만듭니다.
# earns: 0
# right: compute_distances_two_loops

def compute_distances_one_loop(x_train, x_test):
    return compute_distances_two_loops(x_train, x_test).float()


# %% none_rooted
# says: These are the distances themselves; their squares are asked for, so take no root.
# says-ko: 거리 자체입니다. 거리의 제곱이 필요하므로 제곱근을 구하지 마세요.
# earns: 0.6
# right: compute_distances_two_loops

def compute_distances_no_loops(x_train, x_test):
    return compute_distances_two_loops(x_train, x_test).sqrt()


# %% none_factor_forgotten
# says: The product a·b is taken off once; (a - b)² = a² - 2ab + b² has it twice.
# says-ko: 곱 a·b를 한 번만 뺐습니다. (a - b)² = a² - 2ab + b²에는 두 번 있습니다.
# earns: 0.6
# right: compute_distances_two_loops

def compute_distances_no_loops(x_train, x_test):
    product = x_train.flatten(1) @ x_test.flatten(1).T
    return compute_distances_two_loops(x_train, x_test) + product


# %% none_wrong_sign
# says: The product 2ab is added; (a - b)² = a² - 2ab + b² takes it off.
# says-ko: 곱 2ab를 더했습니다. (a - b)² = a² - 2ab + b²이므로 빼야 합니다.
# earns: 0.6
# right: compute_distances_two_loops

def compute_distances_no_loops(x_train, x_test):
    return compute_distances_two_loops(x_train, -x_test)


# %% none_transposed
# says: Rows and columns are swapped: training points are the rows, test points the columns.
# says-ko: 행과 열이 바뀌었습니다. 행이 훈련 점이고 열이 시험 점입니다.
# earns: 0.7
# right: compute_distances_two_loops

def compute_distances_no_loops(x_train, x_test):
    return compute_distances_two_loops(x_test, x_train)


# %% none_float64
# says: The result is float64 for float32 points, too; keep the dtype of the points.
# says-ko: float32 점의 결과도 float64입니다. 점의 dtype을 유지해야 합니다.
# earns: 0
# right: compute_distances_two_loops

def compute_distances_no_loops(x_train, x_test):
    return compute_distances_two_loops(x_train.double(), x_test.double())


# %% predict_farthest
# says: The k farthest points vote; the k nearest are asked for. torch.topk finds the greatest numbers
#   unless it gets largest=False.
# says-ko: 가장 먼 k개의 점이 투표합니다. 가장 가까운 k개여야 합니다. torch.topk는 largest=False가 없으면
#   가장 큰 수를 찾습니다.
# earns: 0.5

def predict_labels(dists, y_train, k=1):
    return y_train[dists.argsort(dim=0, descending=True)[:k]].mode(dim=0).values


# %% predict_nearest_only
# says: Each label is that of the nearest point alone, whatever k is; the k nearest points vote.
# says-ko: k와 상관없이 가장 가까운 한 점의 레이블입니다. 가장 가까운 k개의 점이 투표해야 합니다.
# earns: 0.4

def predict_labels(dists, y_train, k=1):
    return y_train[dists.argsort(dim=0)[0]]


# %% predict_floats
# says: The labels are right, but float32; torch.zeros(...) without a dtype, for one, makes float32.
# says-ko: 레이블은 맞지만 float32입니다. 예를 들어 dtype 없는 torch.zeros(...)는 float32를 만듭니다.
# earns: 0

def predict_labels(dists, y_train, k=1):
    return y_train[dists.argsort(dim=0)[:k]].mode(dim=0).values.float()


# %% predict_ties_by_distance
# says: Where labels tie, yours is the one of the nearer point; the smallest label is asked for.
# says-ko: 표가 같을 때 더 가까운 점의 레이블을 골랐습니다. 가장 작은 레이블이어야 합니다.
# earns: 0.5

from collections import Counter


def predict_labels(dists, y_train, k=1):
    columns = y_train[dists.argsort(dim=0)[:k]].T.tolist()
    return torch.tensor([Counter(labels).most_common(1)[0][0] for labels in columns])


# %% predict_ties_to_greatest
# says: Where labels tie, yours is the greatest of them; the smallest is asked for.
# says-ko: 표가 같을 때 가장 큰 레이블을 골랐습니다. 가장 작은 레이블이어야 합니다.
# earns: 0.5

def predict_labels(dists, y_train, k=1):
    return -(-y_train[dists.argsort(dim=0)[:k]]).mode(dim=0).values


# %% classifier_ignores_k
# says: The predictions are those of one neighbour, whatever k is: hand k on to predict_labels.
# says-ko: k와 상관없이 이웃 하나로 예측했습니다. k를 predict_labels에 넘기세요.
# earns: 0.4
# right: compute_distances_no_loops, predict_labels

class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.x_train, self.y_train = x_train, y_train

    def predict(self, x_test, k=1):
        dists = compute_distances_no_loops(self.x_train, x_test)
        return predict_labels(dists, self.y_train, 1)


# %% folds_fractions
# says: The accuracies are a hundredth of what they should be: they are percents, from 0 to 100.
# says-ko: 정확도가 100분의 1입니다. 0에서 100까지의 백분율이어야 합니다.
# earns: 0.75
# right: KnnClassifier

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    found = measured(x_train, y_train, num_folds, k_choices or DEFAULTS)
    return {k: [accuracy / 100 for accuracy in row] for k, row in found.items()}


# %% folds_k_forgotten
# says: Every k has the accuracies of k = 1: hand k on to check_accuracy.
# says-ko: 모든 k의 정확도가 k = 1의 것입니다. k를 check_accuracy에 넘기세요.
# earns: 0.4
# right: KnnClassifier

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    found = measured(x_train, y_train, num_folds, [1])
    return {k: found[1] for k in k_choices or DEFAULTS}


# %% folds_means
# says: There is one mean for each k; the list of the accuracies of all folds is asked for.
# says-ko: k마다 평균 하나입니다. 모든 폴드의 정확도 목록이어야 합니다.
# earns: 0.6
# right: KnnClassifier

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    found = measured(x_train, y_train, num_folds, k_choices or DEFAULTS)
    return {k: sum(row) / len(row) for k, row in found.items()}


# %% folds_reversed
# says: The accuracies of each k come last fold first; number i is of the fold in which part i is tested.
# says-ko: 각 k의 정확도가 마지막 폴드부터 있습니다. i번은 i번 부분을 시험한 폴드의 것이어야 합니다.
# earns: 0.7
# right: KnnClassifier

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    found = measured(x_train, y_train, num_folds, k_choices or DEFAULTS)
    return {k: row[::-1] for k, row in found.items()}


# %% folds_stop_early
# says: The last fold is missing: each of the num_folds parts plays the test data once.
# says-ko: 마지막 폴드가 없습니다. num_folds개의 부분이 모두 한 번씩 시험 데이터가 됩니다.
# earns: 0.7
# right: KnnClassifier

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    found = measured(x_train, y_train, num_folds, k_choices or DEFAULTS)
    return {k: row[:-1] for k, row in found.items()}


# %% folds_dealt_out
# says: The points are dealt out in turn; cut the data in order, into parts that lie together.
# says-ko: 점을 번갈아 나누었습니다. 데이터를 순서대로 이어진 부분으로 잘라야 합니다.
# earns: 0.6
# right: KnnClassifier

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    order = torch.arange(len(x_train)).view(-1, num_folds).T.flatten()
    return measured(x_train[order], y_train[order], num_folds, k_choices or DEFAULTS)


# %% folds_train_on_the_test_fold
# says: The part that is tested is among the training data, too; leave it out there.
# says-ko: 시험하는 부분이 훈련 데이터에도 있습니다. 훈련 데이터에서 빼세요.
# earns: 0.4
# right: KnnClassifier

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    return measured(x_train, y_train, num_folds, k_choices or DEFAULTS, leave_out=False)


# %% folds_default_is_one_k
# says: Without k_choices only k = 1 is tried; the ten values of the starter are asked for.
# says-ko: k_choices가 없으면 k = 1만 시험했습니다. 시작 파일의 열 개 값이어야 합니다.
# earns: 0.3
# right: KnnClassifier

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    return measured(x_train, y_train, num_folds, k_choices or [1])


# %% best_accuracy
# says: This is the best mean accuracy; the k that has it is asked for.
# says-ko: 가장 좋은 평균 정확도입니다. 그 정확도를 가진 k여야 합니다.
# earns: 0.4

def knn_get_best_k(k_to_accuracies):
    return max(sum(values) / len(values) for values in k_to_accuracies.values())


# %% best_single_fold
# says: This k has the best single accuracy; the best mean over all folds is asked for.
# says-ko: 폴드 하나의 정확도가 가장 좋은 k입니다. 모든 폴드의 평균이 가장 좋은 k여야 합니다.
# earns: 0.4

def knn_get_best_k(k_to_accuracies):
    return min(k_to_accuracies, key=lambda k: (-max(k_to_accuracies[k]), k))


# %% best_first_in_the_dict
# says: Where k have the same mean, yours is not the smallest of them.
# says-ko: 평균이 같은 k가 여럿일 때 가장 작은 k가 아닙니다.
# earns: 0.5

def knn_get_best_k(k_to_accuracies):
    means = {k: sum(values) / len(values) for k, values in k_to_accuracies.items()}
    return max(means, key=means.get)


# %% best_greatest_of_equals
# says: Where k have the same mean, yours is not the smallest of them.
# says-ko: 평균이 같은 k가 여럿일 때 가장 작은 k가 아닙니다.
# earns: 0.5

def knn_get_best_k(k_to_accuracies):
    return max(k_to_accuracies, key=lambda k: (sum(k_to_accuracies[k]) / len(k_to_accuracies[k]), k))
