# %% two_loops_with_root
# taking: Two loops and sums are right; the handout says no root in bold. Values are wrong everywhere, but by one step.
# price: 0.72
# truth: Returns the distances, not their squares.

def compute_distances_two_loops(x_train, x_test):
    n, m = len(x_train), len(x_test)
    out = torch.zeros(n, m, dtype=x_train.dtype)
    for i in range(n):
        for j in range(m):
            diff = x_train[i] - x_test[j]
            out[i, j] = torch.sqrt(torch.sum(diff * diff))
    return out

# %% two_loops_square_result
# taking: The loops are the right ones; the result matrix is made num_train by num_train, so other sizes raise or leave columns over. Also float32.
# price: 0.6
# truth: Result has shape (num_train, num_train) and float32, which raises with more test points.

def compute_distances_two_loops(x_train, x_test):
    num_train = x_train.size(0)
    num_test = x_test.size(0)
    dists = torch.zeros(num_train, num_train)
    for i in range(num_train):
        for j in range(num_test):
            dists[i][j] = torch.sum((x_train[i] - x_test[j]).pow(2))
    return dists

# %% two_loops_only_first_axis_sum
# taking: Loops right; sum(dim=0) works for vectors, but images raise since a matrix does not fit into an entry.
# price: 0.85
# truth: Sums over the first axis of a point only, so images raise.

def compute_distances_two_loops(x_train, x_test):
    D = x_train.new_empty(len(x_train), len(x_test))
    for a, p in enumerate(x_train):
        for b, q in enumerate(x_test):
            d = p - q
            D[a, b] = (d ** 2).sum(dim=0)
    return D

# %% two_loops_by_norm
# taking: Right numbers and the two loops are there, but with norm, which is not allowed (a tenth).
# price: 0.88
# truth: Uses torch.norm, which is not allowed.

def compute_distances_two_loops(x_train, x_test):
    rows = []
    for a in x_train:
        row = []
        for b in x_test:
            row.append(torch.norm(a - b) ** 2)
        rows.append(torch.stack(row))
    return torch.stack(rows)

# %% one_loop_over_test_transposed
# taking: One loop and right sums, but it runs over the test points and the result is transposed.
# price: 0.68
# truth: Loops over test points and gives shape (num_test, num_train).

def compute_distances_one_loop(x_train, x_test):
    tr = x_train.reshape(x_train.shape[0], -1)
    te = x_test.reshape(x_test.shape[0], -1)
    dists = torch.empty(te.shape[0], tr.shape[0], dtype=tr.dtype)
    for j in range(te.shape[0]):
        dists[j] = (tr - te[j]).square().sum(1)
    return dists

# %% one_loop_sum_axis_zero
# taking: Good broadcasting in one loop, but summed over the test points instead of the entries: shape error in most cases.
# price: 0.6
# truth: Sums over dim 0, giving D numbers for num_test places, so it raises.

def compute_distances_one_loop(x_train, x_test):
    x_train = x_train.flatten(1)
    x_test = x_test.flatten(1)
    result = x_train.new_zeros(len(x_train), len(x_test))
    for i in range(len(x_train)):
        squares = (x_test - x_train[i]) ** 2
        result[i, :] = squares.sum(0)
    return result

# %% one_loop_calls_two
# taking: Just calls the function before it, which has two loops; numbers right, the work of this question is not done.
# price: 0.35
# truth: Hands the work to compute_distances_two_loops, so there are two loops.

def compute_distances_one_loop(x_train, x_test):
    # gives the same result
    return compute_distances_two_loops(x_train, x_test)

# %% one_loop_inplace_centre
# taking: Loop and sums are right, but the input is overwritten in place while looping; after the first turn the test points are wrong as well.
# price: 0.62
# truth: x_test -= row changes the caller's tensor and spoils all later rows.

def compute_distances_one_loop(x_train, x_test):
    a = x_train.view(x_train.shape[0], -1)
    b = x_test.view(x_test.shape[0], -1)
    d = torch.zeros(a.shape[0], b.shape[0], dtype=a.dtype)
    for i in range(a.shape[0]):
        b -= a[i]
        d[i] = (b * b).sum(dim=1)
    return d

# %% no_loops_broadcast_all
# taking: No loop, right numbers, but makes num_train × num_test × D numbers, which the docstring forbids; speed suffers too.
# price: 0.85
# truth: Broadcasts all pairs, which takes num_train × num_test × D of memory.

def compute_distances_no_loops(x_train, x_test):
    a = x_train.flatten(start_dim=1).unsqueeze(1)
    b = x_test.flatten(start_dim=1).unsqueeze(0)
    difference = a - b
    return torch.sum(difference ** 2, dim=-1)

# %% no_loops_forgot_two
# taking: Formula multiplied out without a loop, but the factor 2 of the middle term is missing: all numbers are wrong.
# price: 0.7
# truth: Subtracts the product once instead of twice.

def compute_distances_no_loops(x_train, x_test):
    X = x_train.flatten(1)
    Y = x_test.flatten(1)
    xx = X.pow(2).sum(1).reshape(-1, 1)
    yy = Y.pow(2).sum(1).reshape(1, -1)
    xy = torch.matmul(X, Y.t())
    return xx - xy + yy

# %% no_loops_keepdim_missing
# taking: Right formula without loop; the sums of the training points are not made a column, so it raises unless sizes are equal.
# price: 0.65
# truth: train_sq has shape (num_train,), so broadcasting raises when the sizes differ.

def compute_distances_no_loops(x_train, x_test):
    train = x_train.reshape(len(x_train), -1)
    test = x_test.reshape(len(x_test), -1)
    train_sq = torch.einsum("nd,nd->n", train, train)
    test_sq = torch.einsum("nd,nd->n", test, test)
    cross = train @ test.T
    return train_sq + test_sq - 2 * cross

# %% no_loops_comprehension
# taking: Right numbers and little memory, but a comprehension is a loop and the loop rule is half of the question.
# price: 0.5
# truth: Loops by a list comprehension over the training points.

def compute_distances_no_loops(x_train, x_test):
    tr, te = x_train.flatten(1), x_test.flatten(1)
    return torch.stack([((te - t) ** 2).sum(dim=1) for t in tr])

# %% predict_largest
# taking: Loop, bincount and tie rule are right, but topk takes the farthest points: nearly all labels wrong.
# price: 0.55
# truth: topk without largest=False takes the k farthest.

def predict_labels(dists, y_train, k=1):
    num_test = dists.shape[1]
    pred = torch.zeros(num_test, dtype=torch.int64)
    for j in range(num_test):
        values, idx = dists[:, j].topk(k)
        counts = torch.bincount(y_train[idx])
        pred[j] = counts.argmax()
    return pred

# %% predict_counter_first_seen
# taking: Votes are right, ties go to the label of the nearest neighbour rather than the smallest; the tie rule is two fifths.
# price: 0.62
# truth: Of tied labels takes the one seen first (nearest) rather than the smallest.

def predict_labels(dists, y_train, k=1):
    answers = []
    for column in dists.t():
        order = torch.argsort(column)[:k]
        votes = {}
        for label in y_train[order].tolist():
            votes[label] = votes.get(label, 0) + 1
        best = None
        for label in votes:
            if best is None or votes[label] > votes[best]:
                best = label
        answers.append(best)
    return torch.tensor(answers)

# %% predict_only_ten_labels_rows
# taking: Two slips: runs over rows where test points are columns, and counts only ten labels; the voting idea is there.
# price: 0.3
# truth: Takes rows of dists as test points, and a counter of 10 places raises for labels above 9.

def predict_labels(dists, y_train, k=1):
    out = torch.zeros(dists.shape[0], dtype=torch.long)
    for i in range(dists.shape[0]):
        nearest = dists[i].argsort()[:k]
        counter = torch.zeros(10)
        for n in nearest:
            counter[y_train[n]] += 1
        out[i] = counter.argmax()
    return out

# %% predict_k_ignored
# taking: Nearest neighbour only; k is not used at all. Half-finished: no votes, no ties, but the k = 1 case is right.
# price: 0.35
# truth: Always returns the label of the one nearest point.

def predict_labels(dists, y_train, k=1):
    nearest = dists.argmin(dim=0)
    return y_train[nearest]

# %% classifier_k_not_passed
# taking: The classifier is there, but k stays 1: one forgotten argument; the votes of several neighbours are most of this question.
# price: 0.4
# truth: predict never hands k on to predict_labels.

class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.X = x_train
        self.y = y_train

    def predict(self, x_test, k=1):
        distances = compute_distances_no_loops(self.X, x_test)
        labels = predict_labels(distances, self.y)
        return labels

# %% classifier_arguments_swapped
# taking: Everything in place, only the two arguments of the distances are exchanged; the labels come out in the wrong number or raise.
# price: 0.45
# truth: Passes the test points as training points, so that rows and columns are mixed up.

class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.x_train = x_train.clone()
        self.y_train = y_train.clone()

    def predict(self, x_test, k=1):
        d = compute_distances_no_loops(x_test, self.x_train)
        return predict_labels(d, self.y_train, k)

# %% cross_validate_trains_on_all
# taking: Structure and type right, but the validation fold is part of the training data: k = 1 is always 100 %. A serious error in cross-validation.
# price: 0.4
# truth: Trains on all data including the fold that is tested.

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    xs = torch.chunk(x_train, num_folds)
    ys = torch.chunk(y_train, num_folds)
    model = KnnClassifier(x_train, y_train)
    result = {}
    for k in k_choices:
        result[k] = []
        for f in range(num_folds):
            result[k].append(model.check_accuracy(xs[f], ys[f], k, True))
    return result

# %% cross_validate_trains_on_the_fold
# taking: Test and training data exchanged: trains on the one fold, tests on the rest. Loops and dict right, defaults raise for k = 100.
# price: 0.35
# truth: Trains on the one part and tests on the others; large k then exceeds the training points.

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    size = len(x_train) // num_folds
    scores = {k: [] for k in k_choices}
    for fold in range(num_folds):
        lo, hi = fold * size, (fold + 1) * size
        x_fold, y_fold = x_train[lo:hi], y_train[lo:hi]
        x_other = torch.cat([x_train[:lo], x_train[hi:]])
        y_other = torch.cat([y_train[:lo], y_train[hi:]])
        knn = KnnClassifier(x_fold, y_fold)
        for k in k_choices:
            scores[k].append(knn.check_accuracy(x_other, y_other, k=k, quiet=True))
    return scores

# %% best_k_from_max_fold
# taking: Smallest k on ties is kept by sorting, int is returned, but the best single fold decides instead of the mean.
# price: 0.5
# truth: Compares the greatest accuracy of each k instead of the mean.

def knn_get_best_k(k_to_accuracies):
    best_k, best_acc = None, -1
    for k in sorted(k_to_accuracies):
        acc = max(k_to_accuracies[k])
        if acc > best_acc:
            best_k, best_acc = k, acc
    return best_k

# %% best_k_last_of_ties
# taking: Means are right; ties go to the last k in dict order because of >=, and the smallest was asked for.
# price: 0.65
# truth: With equal means the last key of the dict wins, not the smallest.

def knn_get_best_k(k_to_accuracies):
    best_k = 0
    best_mean = 0.0
    for k, accs in k_to_accuracies.items():
        m = sum(accs) / len(accs)
        if m >= best_mean:
            best_mean = m
            best_k = k
    return best_k
