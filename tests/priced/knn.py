"""Wrong answers to knn, each with the share of its question's points that a good TA would give."""


# %% two_loops_root
# taking: Two loops, right but for the root that the handout forbids.
# price: 0.7
# truth: It takes the square root.
def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros((x_train.shape[0], x_test.shape[0]))
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = torch.sqrt(torch.sum((x_train[i] - x_test[j]) ** 2))
    return dists


# %% two_loops_transposed
# taking: Shape (num_test, num_train).
# price: 0.7
# truth: Rows and columns are swapped: a row for each test point.
def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros((x_test.shape[0], x_train.shape[0]))
    for i in range(x_test.shape[0]):
        for j in range(x_train.shape[0]):
            dists[i, j] = ((x_train[j] - x_test[i]) ** 2).sum()
    return dists


# %% two_loops_no_square
# taking: Absolute differences: Manhattan distance.
# price: 0.6
# truth: It sums absolute differences instead of squares.
def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros((x_train.shape[0], x_test.shape[0]))
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = (x_train[i] - x_test[j]).abs().sum()
    return dists


# %% two_loops_float32
# taking: torch.zeros: float32 whatever comes.
# price: 0.85
# truth: The result is always float32, also for float64 inputs.
def compute_distances_two_loops(x_train, x_test):
    dists = torch.zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = ((x_train[i] - x_test[j]) ** 2).sum()
    return dists


# %% two_loops_norm
# taking: Right, but with norm, which is not allowed (0.5 of 5 or so).
# price: 0.85
# truth: It uses norm, which is not allowed.
def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros((x_train.shape[0], x_test.shape[0]))
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = torch.norm(x_train[i] - x_test[j]) ** 2
    return dists


# %% two_loops_is_vectorised
# taking: Right numbers without any loop: the loops are half.
# price: 0.5
# truth: There is no loop, where two are asked for.
def compute_distances_two_loops(x_train, x_test):
    return compute_distances_no_loops(x_train, x_test)


# %% two_loops_mean
# taking: Mean for sum.
# price: 0.7
# truth: It takes the mean of the squared differences instead of their sum.
def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros((x_train.shape[0], x_test.shape[0]))
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = torch.mean((x_train[i] - x_test[j]) ** 2)
    return dists


# %% one_loop_over_all
# taking: Sum without dim: one number for a row.
# price: 0.6
# truth: It sums over all test points: dim=1 is missing, so each row is one number.
def compute_distances_one_loop(x_train, x_test):
    x_train, x_test = x_train.flatten(1), x_test.flatten(1)
    dists = x_train.new_zeros((x_train.shape[0], x_test.shape[0]))
    for i in range(x_train.shape[0]):
        dists[i] = ((x_test - x_train[i]) ** 2).sum()
    return dists


# %% one_loop_vectors_only
# taking: Forgets to flatten: images fail, vectors are right.
# price: 0.75
# truth: Points are not flattened, so images raise an error or have the wrong shape.
def compute_distances_one_loop(x_train, x_test):
    dists = x_train.new_zeros((x_train.shape[0], x_test.shape[0]))
    for i in range(x_train.shape[0]):
        dists[i] = torch.sum((x_train[i] - x_test) ** 2, dim=1)
    return dists


# %% one_loop_root
# taking: Root, else right.
# price: 0.7
# truth: It takes the square root.
def compute_distances_one_loop(x_train, x_test):
    train, test = x_train.flatten(1), x_test.flatten(1)
    dists = train.new_zeros((train.shape[0], test.shape[0]))
    for i in range(train.shape[0]):
        dists[i] = ((train[i] - test) ** 2).sum(dim=1).sqrt()
    return dists


# %% one_loop_test_loop
# taking: Over the test points, but writes rows: transposed.
# price: 0.65
# truth: Rows and columns are swapped: a row for each test point.
def compute_distances_one_loop(x_train, x_test):
    train, test = x_train.flatten(1), x_test.flatten(1)
    return torch.stack([((train - t) ** 2).sum(dim=1) for t in test])


# %% one_loop_two
# taking: Right values, two loops where one is asked.
# price: 0.5
# truth: There are two loops, where one is asked for.
def compute_distances_one_loop(x_train, x_test):
    return compute_distances_two_loops(x_train, x_test)


# %% no_loops_plus
# taking: Sign of the middle term.
# price: 0.65
# truth: The product is added instead of taken away.
def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a ** 2).sum(1, keepdim=True) + (b ** 2).sum(1) + 2 * a @ b.T


# %% no_loops_without_two
# taking: Factor 2 forgotten.
# price: 0.7
# truth: The factor 2 of the product is missing.
def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a ** 2).sum(1, keepdim=True) + (b ** 2).sum(1) - a @ b.T


# %% no_loops_root
# taking: Root at the end (of what is clamped), else right.
# price: 0.75
# truth: It takes the square root.
def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    d = (a ** 2).sum(1, keepdim=True) + (b ** 2).sum(1) - 2 * a @ b.T
    return d.clamp(min=0).sqrt()


# %% no_loops_keepdim_missing
# taking: keepdim forgotten: shapes do not broadcast.
# price: 0.65
# truth: keepdim is missing, so two vectors of different lengths are added and it raises an error.
def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a ** 2).sum(1) + (b ** 2).sum(1) - 2 * a @ b.T


# %% no_loops_broadcast
# taking: Right, no loop, but makes the big tensor; memory is a part of the rule.
# price: 0.85
# truth: It makes a tensor of num_train x num_test x D entries.
def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return ((a[:, None] - b[None]) ** 2).sum(dim=2)


# %% no_loops_cdist
# taking: Right numbers by cdist: forbidden and costs the half for loops as said.
# price: 0.4
# truth: It uses cdist, which is not allowed.
def compute_distances_no_loops(x_train, x_test):
    return torch.cdist(x_train.flatten(1), x_test.flatten(1)) ** 2


# %% no_loops_transposed
# taking: Transposed result.
# price: 0.7
# truth: Rows and columns are swapped: a row for each test point.
def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (b ** 2).sum(1, keepdim=True) + (a ** 2).sum(1) - 2 * b @ a.T


# %% no_loops_product_alone
# taking: Has the matrix product only.
# price: 0.35
# truth: The sums of squares are missing: it returns -2 times the product.
def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return -2 * a.mm(b.t())


# %% predict_largest
# taking: Farthest in place of nearest: largest=False forgotten.
# price: 0.6
# truth: It takes the k farthest points: largest=False is missing.
def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1], dtype=torch.int64)
    for j in range(dists.shape[1]):
        _, idx = torch.topk(dists[:, j], k)
        y_pred[j] = torch.bincount(y_train[idx]).argmax()
    return y_pred


# %% predict_ignores_k
# taking: Nearest only; k is ignored.
# price: 0.4
# truth: k is ignored: only the nearest point decides.
def predict_labels(dists, y_train, k=1):
    return y_train[dists.argmin(dim=0)]


# %% predict_tie_nearest
# taking: All right; ties go to the first met, not the smallest.
# price: 0.7
# truth: In a tie the label of the nearest wins instead of the smallest label.
def predict_labels(dists, y_train, k=1):
    out = []
    for j in range(dists.shape[1]):
        idx = torch.argsort(dists[:, j])[:k]
        labels = y_train[idx].tolist()
        out.append(max(labels, key=labels.count))
    return torch.tensor(out)


# %% predict_ten_classes
# taking: Counts on ten classes, which the docstring warns about.
# price: 0.7
# truth: It has room for labels 0 to 9 only, so others raise an error.
def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1], dtype=torch.int64)
    for j in range(dists.shape[1]):
        votes = torch.zeros(10)
        for i in torch.topk(dists[:, j], k, largest=False).indices:
            votes[y_train[i]] += 1
        y_pred[j] = votes.argmax()
    return y_pred


# %% predict_indices
# taking: Votes on the indices, not their labels.
# price: 0.35
# truth: It returns the index of a training point instead of its label.
def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1], dtype=torch.int64)
    for j in range(dists.shape[1]):
        idx = torch.topk(dists[:, j], k, largest=False).indices
        y_pred[j] = torch.bincount(idx).argmax()
    return y_pred


# %% predict_float
# taking: dtype.
# price: 0.85
# truth: The labels are float32 instead of int64.
def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1])
    for j in range(dists.shape[1]):
        idx = torch.topk(dists[:, j], k, largest=False).indices
        y_pred[j] = torch.bincount(y_train[idx]).argmax()
    return y_pred


# %% predict_rows
# taking: Goes along the rows: wrong dimension.
# price: 0.5
# truth: It looks for neighbours along the rows (dim 1) instead of the columns.
def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1], dtype=torch.int64)
    for j in range(dists.shape[1]):
        idx = torch.topk(dists[j], k, largest=False).indices
        y_pred[j] = torch.bincount(y_train[idx]).argmax()
    return y_pred


# %% predict_mean_label
# taking: Averages the labels: a misunderstanding of a vote.
# price: 0.35
# truth: It rounds the mean of the labels instead of taking the most frequent.
def predict_labels(dists, y_train, k=1):
    idx = torch.topk(dists, k, dim=0, largest=False).indices
    return y_train[idx].float().mean(dim=0).round().long()


# %% predict_constant
# taking: A stub that returns zeros.
# price: 0.0
# truth: It returns zeros whatever comes.
def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1], dtype=torch.int64)
    return y_pred


# %% classifier_k_fixed
# taking: k is not passed on.
# price: 0.6
# truth: predict ignores k: it is not passed on to predict_labels.
class KnnClassifier:
    def predict(self, x_test, k=1):
        dists = compute_distances_no_loops(self.x_train, x_test)
        return predict_labels(dists, self.y_train)


# %% classifier_swapped
# taking: Arguments of the distance function swapped.
# price: 0.6
# truth: x_test and x_train are swapped, so the distances are transposed.
class KnnClassifier:
    def predict(self, x_test, k=1):
        dists = compute_distances_no_loops(x_test, self.x_train)
        return predict_labels(dists, self.y_train, k)


# %% classifier_no_return
# taking: Computes, return forgotten.
# price: 0.7
# truth: predict returns nothing: return is missing.
class KnnClassifier:
    def predict(self, x_test, k=1):
        dists = compute_distances_no_loops(self.x_train, x_test)
        y_test_pred = predict_labels(dists, self.y_train, k=k)


# %% classifier_not_stored
# taking: self. forgotten in __init__; predict is right.
# price: 0.6
# truth: __init__ stores nothing: self.x_train and self.y_train are missing.
class KnnClassifier:
    def __init__(self, x_train, y_train):
        x_train = x_train
        y_train = y_train


# %% cv_fraction
# taking: Fractions for percent; all else right.
# price: 0.75
# truth: The accuracies are fractions from 0 to 1 instead of percent.
def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    xs, ys = x_train.chunk(num_folds), y_train.chunk(num_folds)
    result = {}
    for k in k_choices:
        result[k] = []
        for i in range(num_folds):
            c = KnnClassifier(torch.cat(xs[:i] + xs[i + 1:]), torch.cat(ys[:i] + ys[i + 1:]))
            result[k].append((c.predict(xs[i], k) == ys[i]).sum().item() / len(ys[i]))
    return result


# %% cv_trains_on_all
# taking: Leaves the test fold in the training data: defeats the purpose.
# price: 0.5
# truth: The test fold is also among the training data.
def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    xs, ys = x_train.chunk(num_folds), y_train.chunk(num_folds)
    result = {k: [] for k in k_choices}
    classifier = KnnClassifier(x_train, y_train)
    for k in k_choices:
        for i in range(num_folds):
            result[k].append(classifier.check_accuracy(xs[i], ys[i], k=k, quiet=True))
    return result


# %% cv_dict_of_dicts
# taking: Right numbers in dicts in place of lists.
# price: 0.8
# truth: Each k has a dict of fold to accuracy instead of a list.
def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    xs, ys = x_train.chunk(num_folds), y_train.chunk(num_folds)
    result = {k: {} for k in k_choices}
    for i in range(num_folds):
        c = KnnClassifier(torch.cat(xs[:i] + xs[i + 1:]), torch.cat(ys[:i] + ys[i + 1:]))
        for k in k_choices:
            result[k][i] = c.check_accuracy(xs[i], ys[i], k=k, quiet=True)
    return result


# %% cv_mean_only
# taking: Mean of the folds in place of the list.
# price: 0.7
# truth: Each k has one mean accuracy instead of the list of the folds'.
def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    xs, ys = x_train.chunk(num_folds), y_train.chunk(num_folds)
    result = {}
    for k in k_choices:
        values = []
        for i in range(num_folds):
            c = KnnClassifier(torch.cat(xs[:i] + xs[i + 1:]), torch.cat(ys[:i] + ys[i + 1:]))
            values.append(c.check_accuracy(xs[i], ys[i], k=k, quiet=True))
        result[k] = sum(values) / num_folds
    return result


# %% cv_train_fold_only
# taking: Roles swapped: trains on the one fold and tests on the rest.
# price: 0.6
# truth: It trains on one fold and tests on the others: the roles are swapped.
def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    xs, ys = x_train.chunk(num_folds), y_train.chunk(num_folds)
    result = {k: [] for k in k_choices}
    for i in range(num_folds):
        c = KnnClassifier(xs[i], ys[i])
        xr, yr = torch.cat(xs[:i] + xs[i + 1:]), torch.cat(ys[:i] + ys[i + 1:])
        for k in k_choices:
            result[k].append(c.check_accuracy(xr, yr, k=k, quiet=True))
    return result


# %% cv_k_not_passed
# taking: k forgotten in check_accuracy.
# price: 0.65
# truth: k is not passed to check_accuracy, so every k gives the accuracy of k = 1.
def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    xs, ys = x_train.chunk(num_folds), y_train.chunk(num_folds)
    result = {k: [] for k in k_choices}
    for i in range(num_folds):
        c = KnnClassifier(torch.cat(xs[:i] + xs[i + 1:]), torch.cat(ys[:i] + ys[i + 1:]))
        for k in k_choices:
            result[k].append(c.check_accuracy(xs[i], ys[i], quiet=True))
    return result


# %% cv_last_fold_missing
# taking: Off by one: the last fold is never the test data.
# price: 0.7
# truth: The last fold is missing from each list.
def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    xs, ys = x_train.chunk(num_folds), y_train.chunk(num_folds)
    result = {k: [] for k in k_choices}
    for i in range(num_folds - 1):
        c = KnnClassifier(torch.cat(xs[:i] + xs[i + 1:]), torch.cat(ys[:i] + ys[i + 1:]))
        for k in k_choices:
            result[k].append(c.check_accuracy(xs[i], ys[i], k=k, quiet=True))
    return result


# %% best_max_fold
# taking: Best single fold in place of the mean.
# price: 0.5
# truth: It compares the best fold of each k instead of the mean.
def knn_get_best_k(k_to_accuracies):
    best_k, best = 0, -1
    for k in sorted(k_to_accuracies):
        if max(k_to_accuracies[k]) > best:
            best, best_k = max(k_to_accuracies[k]), k
    return best_k


# %% best_tie_first
# taking: Ties: whichever comes first in the dict.
# price: 0.7
# truth: Of equal means it takes the first in the dict instead of the smallest k.
def knn_get_best_k(k_to_accuracies):
    return max(k_to_accuracies, key=lambda k: sum(k_to_accuracies[k]) / len(k_to_accuracies[k]))


# %% best_tie_last
# taking: >= keeps the greatest of equal k.
# price: 0.7
# truth: Of equal means it takes the greatest k instead of the smallest.
def knn_get_best_k(k_to_accuracies):
    best_k, best = 0, 0.0
    for k, acc in sorted(k_to_accuracies.items()):
        mean = sum(acc) / len(acc)
        if mean >= best:
            best, best_k = mean, k
    return best_k


# %% best_returns_mean
# taking: Returns the mean, not k.
# price: 0.5
# truth: It returns the best mean instead of its k.
def knn_get_best_k(k_to_accuracies):
    return max(sum(v) / len(v) for v in k_to_accuracies.values())


# %% best_index
# taking: Index in the list of keys.
# price: 0.5
# truth: It returns the position of the best k instead of k itself.
def knn_get_best_k(k_to_accuracies):
    ks = sorted(k_to_accuracies)
    means = torch.tensor([sum(k_to_accuracies[k]) / len(k_to_accuracies[k]) for k in ks])
    return int(means.argmax())


# %% best_least
# taking: min for max.
# price: 0.5
# truth: It takes the k with the lowest mean.
def knn_get_best_k(k_to_accuracies):
    return min(sorted(k_to_accuracies), key=lambda k: sum(k_to_accuracies[k]) / len(k_to_accuracies[k]))
