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
# says-ko: 행과 열이 바뀌었습니다. 행이 학습 점이고 열이 테스트 점입니다.
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
# says-ko: 행과 열이 바뀌었습니다. 행이 학습 점이고 열이 테스트 점입니다.
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
# says-ko: 행과 열이 바뀌었습니다. 행이 학습 점이고 열이 테스트 점입니다.
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
# says-ko: 마지막 폴드가 없습니다. num_folds개의 부분이 모두 한 번씩 테스트 데이터가 됩니다.
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
# says-ko: 시험하는 부분이 학습 데이터에도 있습니다. 학습 데이터에서 빼세요.
# earns: 0.4
# right: KnnClassifier

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    return measured(x_train, y_train, num_folds, k_choices or DEFAULTS, leave_out=False)


# %% folds_default_is_one_k
# says: Without k_choices only k = 1 is tried; the ten values of the starter are asked for.
# says-ko: k_choices가 없으면 k = 1만 시험했습니다. 스타터의 열 개 값이어야 합니다.
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


# %% best_last_in_the_dict
# says: Where k have the same mean, yours is not the smallest of them.
# says-ko: 평균이 같은 k가 여럿일 때 가장 작은 k가 아닙니다.
# earns: 0.5

def knn_get_best_k(k_to_accuracies):
    means = {k: sum(values) / len(values) for k, values in k_to_accuracies.items()}
    best = max(means.values())
    return [k for k, mean in means.items() if mean == best][-1]


# %% best_greatest_of_equals
# says: Where k have the same mean, yours is not the smallest of them.
# says-ko: 평균이 같은 k가 여럿일 때 가장 작은 k가 아닙니다.
# earns: 0.5

def knn_get_best_k(k_to_accuracies):
    return max(k_to_accuracies, key=lambda k: (sum(k_to_accuracies[k]) / len(k_to_accuracies[k]), k))

# %% two_not_squared
# says: The differences are added up with their signs; their squares are asked for.
# says-ko: 차를 부호 그대로 더했습니다. 차의 제곱을 더해야 합니다.
# earns: 0.5

def compute_distances_two_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a[:, None] - b).sum(dim=2)


# %% two_square_of_the_sum
# says: The sum of the differences is squared; square each difference first, then add up.
# says-ko: 차의 합을 제곱했습니다. 차를 먼저 제곱하고 더하세요.
# earns: 0.6

def compute_distances_two_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a[:, None] - b).sum(dim=2).square()


# %% two_largest_difference
# says: This is the largest squared difference of each pair; their sum is asked for.
# says-ko: 쌍마다 가장 큰 차의 제곱입니다. 합이어야 합니다.
# earns: 0.5

def compute_distances_two_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a[:, None] - b).square().amax(dim=2)


# %% two_first_row_only
# says: Only the first training point has distances; the other rows are 0. Does a return stand inside the loop?
# says-ko: 첫 학습 점의 거리만 있고 나머지 행은 0입니다. 반복문 안에 return이 있나요?
# right: compute_distances_one_loop
# earns: 0.4

def compute_distances_two_loops(x_train, x_test):
    distances = compute_distances_one_loop(x_train, x_test)
    distances[1:] = 0
    return distances


# %% two_float64
# says: The result is float64 for float32 points, too; keep the dtype of the points.
# says-ko: float32 점의 결과도 float64입니다. 점의 dtype을 유지해야 합니다.
# right: compute_distances_one_loop
# earns: 0

def compute_distances_two_loops(x_train, x_test):
    return compute_distances_one_loop(x_train.double(), x_test.double())


# %% two_mean_and_root
# says: This is the root of the mean squared difference; the sum of the squares is asked for.
# says-ko: 제곱의 평균의 제곱근입니다. 제곱의 합이어야 합니다.
# right: compute_distances_one_loop
# earns: 0.5

def compute_distances_two_loops(x_train, x_test):
    return (compute_distances_one_loop(x_train, x_test) / x_train[0].numel()).sqrt()


# %% one_not_squared
# says: The differences are added up with their signs; their squares are asked for.
# says-ko: 차를 부호 그대로 더했습니다. 차의 제곱을 더해야 합니다.
# earns: 0.5

def compute_distances_one_loop(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a[:, None] - b).sum(dim=2)


# %% one_square_of_the_sum
# says: The sum of the differences is squared; square each difference first, then add up.
# says-ko: 차의 합을 제곱했습니다. 차를 먼저 제곱하고 더하세요.
# earns: 0.6

def compute_distances_one_loop(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a[:, None] - b).sum(dim=2).square()


# %% one_largest_difference
# says: This is the largest squared difference of each pair; their sum is asked for.
# says-ko: 쌍마다 가장 큰 차의 제곱입니다. 합이어야 합니다.
# earns: 0.5

def compute_distances_one_loop(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a[:, None] - b).square().amax(dim=2)


# %% one_first_row_only
# says: Only the first training point has distances; the other rows are 0. Does a return stand inside the loop?
# says-ko: 첫 학습 점의 거리만 있고 나머지 행은 0입니다. 반복문 안에 return이 있나요?
# right: compute_distances_two_loops
# earns: 0.4

def compute_distances_one_loop(x_train, x_test):
    distances = compute_distances_two_loops(x_train, x_test)
    distances[1:] = 0
    return distances


# %% one_float64
# says: The result is float64 for float32 points, too; keep the dtype of the points.
# says-ko: float32 점의 결과도 float64입니다. 점의 dtype을 유지해야 합니다.
# right: compute_distances_two_loops
# earns: 0

def compute_distances_one_loop(x_train, x_test):
    return compute_distances_two_loops(x_train.double(), x_test.double())


# %% one_mean_and_root
# says: This is the root of the mean squared difference; the sum of the squares is asked for.
# says-ko: 제곱의 평균의 제곱근입니다. 제곱의 합이어야 합니다.
# right: compute_distances_two_loops
# earns: 0.5

def compute_distances_one_loop(x_train, x_test):
    return (compute_distances_two_loops(x_train, x_test) / x_train[0].numel()).sqrt()


# %% none_absolute
# says: You added up the absolute differences; their squares are asked for.
# says-ko: 차의 절댓값을 더했습니다. 차의 제곱을 더해야 합니다.
# earns: 0.5

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a[:, None] - b).abs().sum(dim=2)


# %% none_mean
# says: This is the mean of the squared differences; their sum is asked for.
# says-ko: 차의 제곱의 평균입니다. 합이어야 합니다.
# right: compute_distances_two_loops
# earns: 0.6

def compute_distances_no_loops(x_train, x_test):
    return compute_distances_two_loops(x_train, x_test) / x_train[0].numel()


# %% none_always_float32
# says: float64 points come back as float32; torch.zeros(...) without a dtype, for one, makes float32.
# says-ko: float64 점의 결과가 float32입니다. 예를 들어 dtype 없는 torch.zeros(...)는 float32를 만듭니다.
# right: compute_distances_two_loops
# earns: 0

def compute_distances_no_loops(x_train, x_test):
    return compute_distances_two_loops(x_train, x_test).float()


# %% none_without_test_squares
# says: The squares of the test points, b², are missing: (a - b)² = a² - 2ab + b².
# says-ko: 테스트 점의 제곱 b²이 없습니다: (a - b)² = a² - 2ab + b².
# earns: 0.6

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return a.square().sum(dim=1, keepdim=True) - 2 * a @ b.T


# %% none_without_train_squares
# says: The squares of the training points, a², are missing: (a - b)² = a² - 2ab + b².
# says-ko: 학습 점의 제곱 a²이 없습니다: (a - b)² = a² - 2ab + b².
# earns: 0.6

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return b.square().sum(dim=1) - 2 * a @ b.T


# %% none_without_the_product
# says: The product -2ab is missing: (a - b)² = a² - 2ab + b².
# says-ko: 곱 -2ab가 없습니다: (a - b)² = a² - 2ab + b².
# earns: 0.5

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return a.square().sum(dim=1, keepdim=True) + b.square().sum(dim=1)


# %% none_product_alone
# says: This is the product -2ab alone: (a - b)² = a² - 2ab + b².
# says-ko: 곱 -2ab만 있습니다: (a - b)² = a² - 2ab + b².
# earns: 0.4

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return -2 * a @ b.T


# %% none_sums_squared
# says: Sums of entries are squared where squares of entries are to be added up: a² is (a ** 2).sum(dim=1).
# says-ko: 항목의 합을 제곱했습니다. 항목의 제곱을 더해야 합니다: a²은 (a ** 2).sum(dim=1)입니다.
# earns: 0.5

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return a.sum(dim=1, keepdim=True).square() + b.sum(dim=1).square() - 2 * a @ b.T


# %% none_lengths_not_squared
# says: a² and b² are lengths here, with a root; leave the root out.
# says-ko: a²과 b² 자리에 제곱근을 구한 길이가 있습니다. 제곱근을 구하지 마세요.
# earns: 0.6

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return a.norm(dim=1, keepdim=True) + b.norm(dim=1) - 2 * a @ b.T


# %% none_not_squared
# says: The differences are added up with their signs; their squares are asked for.
# says-ko: 차를 부호 그대로 더했습니다. 차의 제곱을 더해야 합니다.
# earns: 0.5

def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a[:, None] - b).sum(dim=2)


# %% predict_numbers_of_points
# says: This is the number of the nearest training point; its label is asked for: y_train[...].
# says-ko: 가장 가까운 학습 점의 번호입니다. 그 점의 레이블 y_train[...]이어야 합니다.
# earns: 0.5

def predict_labels(dists, y_train, k=1):
    return dists.argsort(dim=0)[0]


# %% predict_one_neighbour_more
# says: k + 1 points vote; k are to.
# says-ko: k + 1개의 점이 투표했습니다. k개여야 합니다.
# earns: 0.6

def predict_labels(dists, y_train, k=1):
    return y_train[dists.argsort(dim=0)[: k + 1]].mode(dim=0).values


# %% predict_one_neighbour_less
# says: k - 1 points vote where k is above 1; k are to.
# says-ko: k가 1보다 클 때 k - 1개의 점이 투표했습니다. k개여야 합니다.
# earns: 0.6

def predict_labels(dists, y_train, k=1):
    return y_train[dists.argsort(dim=0)[: max(1, k - 1)]].mode(dim=0).values


# %% predict_without_the_nearest
# says: The nearest point does not vote: the first k of the order do, from 0.
# says-ko: 가장 가까운 점이 투표하지 않았습니다. 0번부터 k개가 투표합니다.
# earns: 0.6

def predict_labels(dists, y_train, k=1):
    return y_train[dists.argsort(dim=0)[1 : k + 1]].mode(dim=0).values


# %% predict_the_kth
# says: Each label is that of the k-th nearest point alone; all k vote.
# says-ko: k번째로 가까운 점 하나의 레이블입니다. k개 모두 투표해야 합니다.
# earns: 0.4

def predict_labels(dists, y_train, k=1):
    nearest = dists.argsort(dim=0)[:k]
    return y_train[nearest[-1]]


# %% predict_smallest_of_k
# says: Each label is the smallest of the k nearest points; the one with the most votes is asked for.
# says-ko: 가까운 k개의 점의 레이블 중 가장 작은 것입니다. 표가 가장 많은 것이어야 합니다.
# earns: 0.4

def predict_labels(dists, y_train, k=1):
    nearest = dists.argsort(dim=0)[:k]
    return y_train[nearest].amin(dim=0)


# %% predict_greatest_of_k
# says: Each label is the greatest of the k nearest points; the one with the most votes is asked for.
# says-ko: 가까운 k개의 점의 레이블 중 가장 큰 것입니다. 표가 가장 많은 것이어야 합니다.
# earns: 0.4

def predict_labels(dists, y_train, k=1):
    nearest = dists.argsort(dim=0)[:k]
    return y_train[nearest].amax(dim=0)


# %% predict_mean_label
# says: Labels are averaged; they are names, so let them vote.
# says-ko: 레이블의 평균입니다. 레이블은 이름이므로 투표로 정하세요.
# earns: 0.4

def predict_labels(dists, y_train, k=1):
    nearest = dists.argsort(dim=0)[:k]
    return y_train[nearest].double().mean(dim=0).long()


# %% predict_median_label
# says: This is the median of the labels; they are names, so let them vote.
# says-ko: 레이블의 중앙값입니다. 레이블은 이름이므로 투표로 정하세요.
# earns: 0.4

def predict_labels(dists, y_train, k=1):
    nearest = dists.argsort(dim=0)[:k]
    return y_train[nearest].median(dim=0).values


# %% predict_number_of_votes
# says: This is how many votes the best label has; the label itself is asked for.
# says-ko: 가장 많이 받은 표의 수입니다. 그 레이블이어야 합니다.
# earns: 0.5

def predict_labels(dists, y_train, k=1):
    nearest = dists.argsort(dim=0)[:k]
    return torch.stack([torch.bincount(column).max() for column in y_train[nearest].T])


# %% predict_over_the_rows
# says: The neighbours are sought along the rows, among the test points; dists has a column for each test point.
# says-ko: 행을 따라 테스트 점 중에서 이웃을 찾았습니다. dists에서 테스트 점마다 열이 하나입니다.
# earns: 0.4

def predict_labels(dists, y_train, k=1):
    return y_train[dists.argsort(dim=1)[:, :k].clamp(max=len(y_train) - 1)].mode(dim=1).values


# %% predict_first_points
# says: The first k training points vote, whatever their distances are.
# says-ko: 거리와 상관없이 처음 k개의 학습 점이 투표했습니다.
# earns: 0

def predict_labels(dists, y_train, k=1):
    return y_train[:k].mode().values.expand(dists.shape[1]).clone()


# %% predict_a_column
# says: The labels stand in a column, of shape (num_test, 1); shape (num_test,) is asked for.
# says-ko: 레이블이 shape (num_test, 1)인 열에 있습니다. shape은 (num_test,)이어야 합니다.
# earns: 0.7

def predict_labels(dists, y_train, k=1):
    nearest = dists.argsort(dim=0)[:k]
    return y_train[nearest].mode(dim=0).values[:, None]


# %% predict_a_list
# says: The labels come in a list; a tensor is asked for.
# says-ko: 레이블이 목록으로 돌아왔습니다. 텐서여야 합니다.
# earns: 0.7

def predict_labels(dists, y_train, k=1):
    nearest = dists.argsort(dim=0)[:k]
    return y_train[nearest].mode(dim=0).values.tolist()


# %% classifier_farthest
# says: The farthest points vote: do not turn the sign of the distances.
# says-ko: 가장 먼 점이 투표했습니다. 거리의 부호를 바꾸지 마세요.
# right: compute_distances_no_loops, predict_labels
# earns: 0.5

class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.x_train, self.y_train = x_train, y_train

    def predict(self, x_test, k=1):
        dists = -compute_distances_no_loops(self.x_train, x_test)
        return predict_labels(dists, self.y_train, k)


# %% classifier_returns_distances
# says: These are the distances; hand them on to predict_labels.
# says-ko: 거리입니다. predict_labels에 넘기세요.
# right: compute_distances_no_loops, predict_labels
# earns: 0.4

class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.x_train, self.y_train = x_train, y_train

    def predict(self, x_test, k=1):
        return compute_distances_no_loops(self.x_train, x_test)


# %% folds_fractions_float32
# says: The accuracies are a hundredth of what they should be: they are percents, from 0 to 100.
# says-ko: 정확도가 100분의 1입니다. 0에서 100까지의 백분율이어야 합니다.
# right: KnnClassifier
# earns: 0.7

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    found = measured(x_train, y_train, num_folds, k_choices or DEFAULTS)
    return {k: [torch.tensor(each / 100).item() for each in row] for k, row in found.items()}


# %% folds_errors
# says: These are the percents that are wrong; those that are right are asked for.
# says-ko: 틀린 비율입니다. 맞은 비율이어야 합니다.
# right: KnnClassifier
# earns: 0.7

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    found = measured(x_train, y_train, num_folds, k_choices or DEFAULTS)
    return {k: [100 - each for each in row] for k, row in found.items()}


# %% folds_counts
# says: These are numbers of right labels; percents are asked for.
# says-ko: 맞은 레이블의 수입니다. 백분율이어야 합니다.
# right: KnnClassifier
# earns: 0.6

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    found = measured(x_train, y_train, num_folds, k_choices or DEFAULTS)
    size = len(x_train) // num_folds
    return {k: [round(each * size / 100) for each in row] for k, row in found.items()}


# %% folds_dicts
# says: Each k has a dict of folds; a list is asked for: append to it.
# says-ko: k마다 폴드의 dict입니다. 목록이어야 하므로 append를 쓰세요.
# right: KnnClassifier
# earns: 0.8

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    found = measured(x_train, y_train, num_folds, k_choices or DEFAULTS)
    return {k: dict(enumerate(row)) for k, row in found.items()}


# %% folds_by_fold
# says: The dict has a list for each fold; one for each k is asked for.
# says-ko: 폴드마다 목록이 있습니다. k마다 있어야 합니다.
# right: KnnClassifier
# earns: 0.6

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    found = measured(x_train, y_train, num_folds, k_choices or DEFAULTS)
    return {fold: list(row) for fold, row in enumerate(zip(*found.values()))}


# %% folds_lists
# says: A list of lists comes back; a dict from k to its list is asked for.
# says-ko: 목록의 목록입니다. k에서 목록으로 가는 dict여야 합니다.
# right: KnnClassifier
# earns: 0.6

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    found = measured(x_train, y_train, num_folds, k_choices or DEFAULTS)
    return list(found.values())


# %% folds_sorted
# says: The accuracies of each k are sorted; number i is of the fold in which part i is tested.
# says-ko: 각 k의 정확도가 정렬되어 있습니다. i번은 i번 부분을 시험한 폴드의 것이어야 합니다.
# right: KnnClassifier
# earns: 0.6

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    found = measured(x_train, y_train, num_folds, k_choices or DEFAULTS)
    return {k: sorted(row) for k, row in found.items()}


# %% folds_whole_numbers
# says: The accuracies are cut off to whole numbers: use /, not //, and no int(...).
# says-ko: 정확도를 정수로 잘랐습니다. //나 int(...) 말고 /를 쓰세요.
# right: KnnClassifier
# earns: 0.7

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    found = measured(x_train, y_train, num_folds, k_choices or DEFAULTS)
    return {k: [int(each) for each in row] for k, row in found.items()}


# %% folds_first_k_alone
# says: Only the first k is in the dict: is a return inside the loop?
# says-ko: dict에 첫 k만 있습니다. 반복문 안에 return이 있나요?
# right: KnnClassifier
# earns: 0.4

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    found = measured(x_train, y_train, num_folds, k_choices or DEFAULTS)
    return dict([next(iter(found.items()))])


# %% folds_last_fold_alone
# says: Each list has the accuracy of the last fold alone: make the list once, before the folds, and append to it.
# says-ko: 목록마다 마지막 폴드의 정확도만 있습니다. 폴드 앞에서 목록을 한 번 만들고 append하세요.
# right: KnnClassifier
# earns: 0.5

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    found = measured(x_train, y_train, num_folds, k_choices or DEFAULTS)
    return {k: row[-1:] for k, row in found.items()}


# %% folds_same_part
# says: The first part is tested in every fold; each part plays the test data once.
# says-ko: 모든 폴드에서 첫 부분을 시험했습니다. 부분마다 한 번씩 시험해야 합니다.
# right: KnnClassifier
# earns: 0.5

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    found = measured(x_train, y_train, num_folds, k_choices or DEFAULTS)
    return {k: row[:1] * num_folds for k, row in found.items()}


# %% folds_roles_swapped
# says: One part trains and the others are tested; it is the other way round.
# says-ko: 한 부분으로 학습하고 나머지를 시험했습니다. 반대여야 합니다.
# right: KnnClassifier
# earns: 0.5

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    x_parts, y_parts = x_train.chunk(num_folds), y_train.chunk(num_folds)
    found = {k: [] for k in k_choices or DEFAULTS}
    for fold in range(num_folds):
        rest = [part for part in range(num_folds) if part != fold]
        x_rest, y_rest = (torch.cat([parts[i] for i in rest]) for parts in (x_parts, y_parts))
        classifier = KnnClassifier(x_parts[fold], y_parts[fold])
        for k, row in found.items():
            row.append(classifier.check_accuracy(x_rest, y_rest, min(k, len(x_parts[fold]))))
    return found


# %% best_starts_at_0
# says: Where k have the same mean, yours is the first of them, not the smallest; and where no mean is above 0, none is found.
# says-ko: 평균이 같은 k가 여럿일 때 가장 작은 k가 아니라 첫 k입니다. 0보다 큰 평균이 없으면 아무것도 찾지 못합니다.
# earns: 0

def knn_get_best_k(k_to_accuracies):
    means = {k: sum(values) / len(values) for k, values in k_to_accuracies.items()}
    best, best_mean = 0, 0.0
    for k, mean in means.items():
        if mean > best_mean:
            best, best_mean = k, mean
    return best


# %% best_starts_at_0_single
# says: This k has the best single accuracy, the search for which begins at 0; the best mean over all folds is asked for.
# says-ko: 0에서 시작해 폴드 하나의 정확도가 가장 좋은 k를 찾았습니다. 모든 폴드의 평균이 가장 좋은 k여야 합니다.
# earns: 0.4

def knn_get_best_k(k_to_accuracies):
    best, best_accuracy = 0, 0.0
    for k, values in k_to_accuracies.items():
        for accuracy in values:
            if accuracy > best_accuracy:
                best, best_accuracy = k, accuracy
    return best


# %% best_lowest
# says: This k has the lowest mean; the highest is asked for.
# says-ko: 평균이 가장 낮은 k입니다. 가장 높은 k여야 합니다.
# earns: 0.5

def knn_get_best_k(k_to_accuracies):
    means = {k: sum(values) / len(values) for k, values in k_to_accuracies.items()}
    return min(means, key=lambda k: (means[k], k))


# %% best_and_mean
# says: k comes back with its mean; k alone is asked for.
# says-ko: k와 그 평균을 함께 반환했습니다. k만 반환하세요.
# earns: 0.7

def knn_get_best_k(k_to_accuracies):
    means = {k: sum(values) / len(values) for k, values in k_to_accuracies.items()}
    best = min(means, key=lambda k: (-means[k], k))
    return best, means[best]


# %% best_position
# says: This is the place of the best k in the dict; k itself is asked for.
# says-ko: dict에서 가장 좋은 k의 위치입니다. k 자체여야 합니다.
# earns: 0.6

def knn_get_best_k(k_to_accuracies):
    means = {k: sum(values) / len(values) for k, values in k_to_accuracies.items()}
    return list(means).index(min(means, key=lambda k: (-means[k], k)))


# %% best_first_fold
# says: This k is the best in the first fold; the best mean over all folds is asked for.
# says-ko: 첫 폴드에서 가장 좋은 k입니다. 모든 폴드의 평균이 가장 좋은 k여야 합니다.
# earns: 0.4

def knn_get_best_k(k_to_accuracies):
    return min(k_to_accuracies, key=lambda k: (-k_to_accuracies[k][0], k))


# %% best_last_fold
# says: This k is the best in the last fold; the best mean over all folds is asked for.
# says-ko: 마지막 폴드에서 가장 좋은 k입니다. 모든 폴드의 평균이 가장 좋은 k여야 합니다.
# earns: 0.4

def knn_get_best_k(k_to_accuracies):
    return min(k_to_accuracies, key=lambda k: (-k_to_accuracies[k][-1], k))


# %% best_worst_fold
# says: This k has the best worst fold; the best mean over all folds is asked for.
# says-ko: 가장 나쁜 폴드가 가장 좋은 k입니다. 모든 폴드의 평균이 가장 좋은 k여야 합니다.
# earns: 0.4

def knn_get_best_k(k_to_accuracies):
    return min(k_to_accuracies, key=lambda k: (-min(k_to_accuracies[k]), k))


# %% best_greatest
# says: This is the greatest k; the one with the best mean is asked for.
# says-ko: 가장 큰 k입니다. 평균이 가장 좋은 k여야 합니다.
# earns: 0

def knn_get_best_k(k_to_accuracies):
    return max(k_to_accuracies)


# %% best_smallest
# says: This is the smallest k; the one with the best mean is asked for.
# says-ko: 가장 작은 k입니다. 평균이 가장 좋은 k여야 합니다.
# earns: 0

def knn_get_best_k(k_to_accuracies):
    return min(k_to_accuracies)


# %% best_first
# says: This is the first k of the dict; the one with the best mean is asked for.
# says-ko: dict의 첫 k입니다. 평균이 가장 좋은 k여야 합니다.
# earns: 0

def knn_get_best_k(k_to_accuracies):
    return next(iter(k_to_accuracies))


# %% best_in_a_list
# says: The best k comes in a list; one number is asked for.
# says-ko: 가장 좋은 k를 목록으로 반환했습니다. 수 하나여야 합니다.
# earns: 0.7

def knn_get_best_k(k_to_accuracies):
    means = {k: sum(values) / len(values) for k, values in k_to_accuracies.items()}
    best = max(means.values())
    return [k for k, mean in means.items() if mean == best]
