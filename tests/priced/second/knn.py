# %% two_loops_rooted
# taking: Handout says in bold no square root; loops and sum are right.
# price: 0.75
# truth: Returns the distances themselves instead of their squares.

def compute_distances_two_loops(x_train, x_test):
    n, m = len(x_train), len(x_test)
    D = torch.empty(n, m, dtype=x_train.dtype)
    for i in range(n):
        for j in range(m):
            diff = x_train[i] - x_test[j]
            D[i, j] = torch.sqrt(torch.sum(diff * diff))
    return D


# %% two_loops_default_dtype
# taking: Everything right but float64 input comes back rounded to float32.
# price: 0.9
# truth: The result is always float32, whatever dtype the input has.

def compute_distances_two_loops(x_train, x_test):
    num_train = x_train.shape[0]
    num_test = x_test.shape[0]
    dists = torch.zeros(num_train, num_test)
    for i in range(num_train):
        a = x_train[i].reshape(-1)
        for j in range(num_test):
            b = x_test[j].reshape(-1)
            dists[i][j] = (a - b).pow(2).sum()
    return dists


# %% two_loops_vectors_only
# taking: Right for vectors, crashes on images since only one axis is summed.
# price: 0.75
# truth: Sums over one axis only, so points that are not vectors raise an error.

def compute_distances_two_loops(x_train, x_test):
    out = x_train.new_empty(x_train.size(0), x_test.size(0))
    for i, a in enumerate(x_train):
        for j, b in enumerate(x_test):
            out[i, j] = torch.square(a - b).sum(dim=0)
    return out


# %% two_loops_wrong_count
# taking: One wrong variable makes it crash or leave columns out; the rest is right.
# price: 0.7
# truth: Counts the training points twice, so the result has num_train columns; with fewer test points the index runs out and raises.

def compute_distances_two_loops(x_train, x_test):
    num_train = x_train.shape[0]
    num_test = x_train.shape[0]
    # one entry for each pair
    dists = x_train.new_zeros(num_train, num_test)
    for row in range(num_train):
        for col in range(num_test):
            dists[row, col] = torch.sum((x_train[row] - x_test[col]) ** 2)
    return dists


# %% two_loops_norm_squared
# taking: Forbidden norm does the work; loops and numbers are right.
# price: 0.85
# truth: Uses torch.norm, which is not allowed, and squares it; the numbers are right.

def compute_distances_two_loops(x_train, x_test):
    res = []
    for a in x_train:
        line = []
        for b in x_test:
            line.append(torch.norm(a - b) ** 2)
        res.append(torch.stack(line))
    return torch.stack(res)


# %% two_loops_mean_early_return
# taking: Two errors: mean instead of sum, and return after the first row.
# price: 0.5
# truth: Takes the mean of the squared differences and returns inside the outer loop, so only the first row is filled.

def compute_distances_two_loops(x_train, x_test):
    dists = torch.zeros((x_train.shape[0], x_test.shape[0]), dtype=x_train.dtype)
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            d = x_train[i] - x_test[j]
            dists[i, j] = (d ** 2).mean()
        return dists


# %% two_loops_empty_shell
# taking: Loops stand there but nothing is computed.
# price: 0.1
# truth: Returns zeros; the body of the loops does nothing of use.

def compute_distances_two_loops(x_train, x_test):
    dists = torch.zeros(len(x_train), len(x_test), dtype=x_train.dtype)
    for i in range(len(x_train)):
        for j in range(len(x_test)):
            dists[i, j] = 0  # TODO distance
    return dists


# %% one_loop_two_loops
# taking: The one loop is half of the points by the handout; numbers are right.
# price: 0.5
# truth: Uses two nested loops where one is asked for.

def compute_distances_one_loop(x_train, x_test):
    train = x_train.view(x_train.shape[0], -1)
    test = x_test.view(x_test.shape[0], -1)
    dists = train.new_zeros(train.shape[0], test.shape[0])
    for i in range(train.shape[0]):
        for j in range(test.shape[0]):
            dists[i, j] = ((train[i] - test[j]) ** 2).sum()
    return dists


# %% one_loop_over_test
# taking: Loop runs over the other points than asked; otherwise fine.
# price: 0.9
# truth: The single loop runs over the test points instead of the training points; the numbers are right.

def compute_distances_one_loop(x_train, x_test):
    A = x_train.flatten(1)
    columns = []
    for point in x_test.flatten(1):
        columns.append((A - point).square().sum(1))
    return torch.stack(columns, dim=1)


# %% one_loop_column_slip
# taking: Result of each step put into a column rather than a row: crashes, but one slip.
# price: 0.75
# truth: Writes the distances of training point i into column i, which raises unless there are as many test points.

def compute_distances_one_loop(x_train, x_test):
    n_tr = x_train.shape[0]
    n_te = x_test.shape[0]
    tr = x_train.reshape(n_tr, -1)
    te = x_test.reshape(n_te, -1)
    dists = torch.zeros(n_tr, n_te, dtype=tr.dtype)
    for i in range(n_tr):
        dists[:, i] = ((te - tr[i]) ** 2).sum(1)
    return dists


# %% one_loop_images_forgotten
# taking: Good loop for vectors; points of higher rank crash.
# price: 0.8
# truth: Does not flatten the points, so images raise an error on assignment.

def compute_distances_one_loop(x_train, x_test):
    dists = x_train.new_zeros((len(x_train), len(x_test)))
    for i in range(len(x_train)):
        diff = x_test - x_train[i]
        dists[i, :] = torch.sum(diff ** 2, dim=1)
    return dists


# %% one_loop_cdist_rows
# taking: Forbidden cdist computes the distance; loop kept and numbers right.
# price: 0.8
# truth: Calls torch.cdist, which is not allowed, for each training point and squares it.

def compute_distances_one_loop(x_train, x_test):
    te = x_test.flatten(start_dim=1)
    rows = []
    for i in range(x_train.shape[0]):
        me = x_train[i].reshape(1, -1)
        rows.append(torch.cdist(me, te) ** 2)
    return torch.cat(rows, dim=0)


# %% one_loop_not_squared
# taking: Loop and shape right; the square is missing so it is no distance.
# price: 0.65
# truth: Sums the differences without squaring them.

def compute_distances_one_loop(x_train, x_test):
    num_train, num_test = x_train.shape[0], x_test.shape[0]
    x1 = x_train.view(num_train, -1)
    x2 = x_test.view(num_test, -1)
    dists = x1.new_zeros(num_train, num_test)
    for i in range(num_train):
        dists[i] = (x1[i].unsqueeze(0) - x2).sum(dim=1)
    return dists


# %% one_loop_root_and_transposed
# taking: Two errors, root and transposed result; the loop itself is good.
# price: 0.6
# truth: Takes the square root and returns shape (num_test, num_train).

def compute_distances_one_loop(x_train, x_test):
    train, test = x_train.flatten(1), x_test.flatten(1)
    out = []
    for t in train:
        sq = ((test - t) ** 2).sum(-1)
        out.append(sq ** 0.5)
    return torch.stack(out, dim=-1)


# %% one_loop_subtracts_in_place
# taking: In-place subtraction spoils later rows and the input; idea right.
# price: 0.6
# truth: Subtracts from x_test in place, so that the input changes and each row builds on the row before.

def compute_distances_one_loop(x_train, x_test):
    test = x_test.view(x_test.shape[0], -1)
    train = x_train.view(x_train.shape[0], -1)
    dists = torch.zeros(train.shape[0], test.shape[0], dtype=train.dtype)
    for i in range(train.shape[0]):
        test -= train[i]
        dists[i] = (test * test).sum(dim=1)
    return dists


# %% no_loops_broadcast_all
# taking: Right and without loops, but the big array that the handout rules out.
# price: 0.8
# truth: Makes an array of num_train x num_test x D entries, which is not allowed.

def compute_distances_no_loops(x_train, x_test):
    a = x_train.flatten(1).unsqueeze(1)
    b = x_test.flatten(1).unsqueeze(0)
    return (a - b).pow(2).sum(dim=2)


# %% no_loops_cdist
# taking: Handout: cdist costs the half for the loops too, and it does all the work.
# price: 0.4
# truth: Calls torch.cdist, which is not allowed, and squares the result.

def compute_distances_no_loops(x_train, x_test):
    p = x_train.reshape(x_train.shape[0], -1)
    q = x_test.reshape(x_test.shape[0], -1)
    d = torch.cdist(p, q)
    return d * d


# %% no_loops_comprehension
# taking: A list comprehension is a loop, half of the points by the handout.
# price: 0.5
# truth: Hides a loop over the training points in a list comprehension.

def compute_distances_no_loops(x_train, x_test):
    flat = x_test.flatten(1)
    return torch.stack([((flat - x.flatten()) ** 2).sum(dim=1) for x in x_train])


# %% no_loops_plus_sign
# taking: One sign wrong in the expansion; everything else stands.
# price: 0.75
# truth: Adds twice the product instead of taking it away.

def compute_distances_no_loops(x_train, x_test):
    # (a - b)^2 = a^2 + b^2 + 2ab
    x = x_train.flatten(1)
    y = x_test.flatten(1)
    xx = torch.sum(x ** 2, dim=1).view(-1, 1)
    yy = torch.sum(y ** 2, dim=1).view(1, -1)
    xy = x @ y.t()
    return xx + yy + 2 * xy


# %% no_loops_row_sums_clash
# taking: Missing one axis on the training sums, so it crashes; formula right.
# price: 0.75
# truth: Both sums are vectors, so adding them raises unless the two counts are equal.

def compute_distances_no_loops(x_train, x_test):
    tr = x_train.view(x_train.shape[0], -1)
    te = x_test.view(x_test.shape[0], -1)
    tr2 = torch.einsum("nd,nd->n", tr, tr)
    te2 = torch.einsum("md,md->m", te, te)
    cross = torch.einsum("nd,md->nm", tr, te)
    return tr2 + te2 - 2 * cross


# %% no_loops_norm_for_squares
# taking: Small rule break, norm for the two sums; the rest is as wanted.
# price: 0.9
# truth: Gets the sums of squares from the forbidden norm; the numbers are right.

def compute_distances_no_loops(x_train, x_test):
    f, g = x_train.flatten(1), x_test.flatten(1)
    ff = f.norm(dim=1, keepdim=True) ** 2
    gg = g.norm(dim=1) ** 2
    return ff - 2 * f @ g.T + gg


# %% no_loops_no_flatten
# taking: Right for vectors; crashes on images as nothing is flattened.
# price: 0.75
# truth: Does not flatten the points, so images raise an error.

def compute_distances_no_loops(x_train, x_test):
    sq_train = (x_train ** 2).sum(dim=1).reshape(-1, 1)
    sq_test = (x_test ** 2).sum(dim=1).reshape(1, -1)
    prod = torch.mm(x_train, x_test.t())
    dists = sq_train - 2 * prod + sq_test
    return dists


# %% no_loops_float_cast
# taking: Only the dtype is lost.
# price: 0.9
# truth: Casts everything to float32, so float64 input gives a float32 result.

def compute_distances_no_loops(x_train, x_test):
    a = x_train.float().reshape(len(x_train), -1)
    b = x_test.float().reshape(len(x_test), -1)
    aa = a.mul(a).sum(1)[:, None]
    bb = b.mul(b).sum(1)[None, :]
    return torch.addmm(aa + bb, a, b.T, alpha=-2)


# %% no_loops_wrong_axis_and_factor
# taking: Sums over the wrong axis and forgets the factor: formula only half there.
# price: 0.4
# truth: Sums the squares over the points instead of the features and misses the factor 2, so it mostly raises.

def compute_distances_no_loops(x_train, x_test):
    tr = x_train.flatten(1)
    te = x_test.flatten(1)
    a2 = (tr ** 2).sum(dim=0, keepdim=True)
    b2 = (te ** 2).sum(dim=0)
    return a2.t() + b2 - tr @ te.t()


# %% no_loops_root_of_negative
# taking: Root against the handout; the expansion is right and fast.
# price: 0.75
# truth: Returns the square root, which is nan where rounding makes the square negative.

def compute_distances_no_loops(x_train, x_test):
    X = x_train.flatten(1)
    Y = x_test.flatten(1)
    squares = X.square().sum(1, keepdim=True) + Y.square().sum(1) - 2 * X.matmul(Y.T)
    return squares.sqrt()


# %% predict_farthest
# taking: Forgot largest=False, so the farthest vote; voting itself is right.
# price: 0.7
# truth: Lets the k farthest points vote instead of the nearest.

def predict_labels(dists, y_train, k=1):
    num_test = dists.shape[1]
    y_pred = torch.zeros(num_test, dtype=torch.int64)
    for j in range(num_test):
        values, indices = torch.topk(dists[:, j], k)
        y_pred[j] = torch.argmax(torch.bincount(y_train[indices]))
    return y_pred


# %% predict_tie_nearest
# taking: Only ties go wrong; handout stresses the smallest label.
# price: 0.8
# truth: Of labels that tie, takes the one whose point is nearest instead of the smallest.

def predict_labels(dists, y_train, k=1):
    from collections import Counter

    order = dists.argsort(dim=0)[:k]
    winners = []
    for j in range(dists.size(1)):
        votes = Counter(y_train[order[:, j]].tolist())
        winners.append(votes.most_common(1)[0][0])
    return torch.tensor(winners, dtype=torch.int64)


# %% predict_ten_classes
# taking: Handout warns not to count on 10 labels; otherwise right.
# price: 0.8
# truth: Has room for ten labels only, so a greater label raises an error.

def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1], dtype=torch.long)
    for t in range(dists.shape[1]):
        counts = [0] * 10
        for idx in dists[:, t].sort().indices[:k]:
            counts[int(y_train[idx])] += 1
        y_pred[t] = counts.index(max(counts))
    return y_pred


# %% predict_rows_for_columns
# taking: Takes rows for columns; the vote is right but about the wrong points.
# price: 0.6
# truth: Goes over the rows of dists as if they were test points, so shape and labels are wrong.

def predict_labels(dists, y_train, k=1):
    pred = []
    for row in dists:
        _, idx = row.topk(k, largest=False)
        pred.append(y_train[idx].bincount().argmax())
    return torch.stack(pred)


# %% predict_indices_not_labels
# taking: Votes on indices of points instead of labels; one lookup is missing.
# price: 0.6
# truth: Returns the index of a training point since the labels are never looked up.

def predict_labels(dists, y_train, k=1):
    num_test = dists.shape[1]
    y_pred = torch.zeros(num_test, dtype=y_train.dtype)
    nearest = torch.topk(dists, k, dim=0, largest=False)[1]
    for j in range(num_test):
        y_pred[j] = torch.bincount(nearest[:, j]).argmax()
    return y_pred


# %% predict_wipes_dists
# taking: Right labels, but it writes inf into its input, which the file forbids.
# price: 0.85
# truth: Finds neighbours one after the other and overwrites their distances in the input.

def predict_labels(dists, y_train, k=1):
    labels = torch.zeros(k, dists.shape[1], dtype=torch.int64)
    cols = torch.arange(dists.shape[1])
    for step in range(k):
        best = dists.argmin(dim=0)
        labels[step] = y_train[best]
        dists[best, cols] = float("inf")
    answer = [torch.bincount(labels[:, c]).argmax() for c in range(dists.shape[1])]
    return torch.stack(answer)


# %% predict_always_one
# taking: Only k = 1 done, and the labels are floats: the vote is missing.
# price: 0.35
# truth: Ignores k, takes the single nearest point, and returns floats.

def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1])
    for j in range(dists.shape[1]):
        y_pred[j] = y_train[torch.argmin(dists[:, j])]
    return y_pred


# %% predict_first_labels
# taking: No neighbours, no vote; only the shape is right.
# price: 0.05
# truth: Returns the most frequent training label for every test point, without using dists.

def predict_labels(dists, y_train, k=1):
    common = y_train.bincount().argmax()
    return common.repeat(dists.shape[1])


# %% classifier_forgot_self
# taking: Data not kept on self, so predict crashes; predict is written right.
# price: 0.65
# truth: The constructor assigns local names, so predict raises AttributeError.

class KnnClassifier:
    def __init__(self, x_train, y_train):
        x_train = x_train
        y_train = y_train

    def predict(self, x_test, k=1):
        d = compute_distances_no_loops(self.x_train, x_test)
        return predict_labels(d, self.y_train, k)


# %% classifier_swapped_points
# taking: Two arguments swapped in one call; the rest is fine.
# price: 0.7
# truth: Passes the test points as training points, so the matrix of distances is transposed.

class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.X = x_train
        self.y = y_train

    def predict(self, x_test, k=1):
        dists = compute_distances_no_loops(x_test, self.X)
        y_test_pred = predict_labels(dists, self.y, k=k)
        return y_test_pred


# %% classifier_k_lost_no_return
# taking: k is not passed on and nothing is returned; the two right calls are there.
# price: 0.55
# truth: Always lets one neighbour vote, and predict returns None.

class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.train_data = x_train
        self.train_labels = y_train

    def predict(self, x_test, k=1):
        distances = compute_distances_no_loops(self.train_data, x_test)
        y_pred = predict_labels(distances, self.train_labels)


# %% classifier_k_lost
# taking: k not passed on to the vote: one forgotten argument in four lines.
# price: 0.75
# truth: Ignores k and always lets one neighbour vote.

class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.x, self.y = x_train.clone(), y_train.clone()

    def predict(self, x_test, k=1):
        return predict_labels(compute_distances_no_loops(self.x, x_test), self.y)


# %% cross_validate_leak
# taking: Trains on all data, test part included; structure right, but the point of CV is missed.
# price: 0.6
# truth: The classifier is trained on all points, with the test part among them.

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    x_folds = torch.chunk(x_train, num_folds)
    y_folds = torch.chunk(y_train, num_folds)
    k_to_accuracies = {}
    for k in k_choices:
        accs = []
        for i in range(num_folds):
            knn = KnnClassifier(torch.cat(x_folds), torch.cat(y_folds))
            accs.append(knn.check_accuracy(x_folds[i], y_folds[i], k=k, quiet=True))
        k_to_accuracies[k] = accs
    return k_to_accuracies


# %% cross_validate_roles_swapped
# taking: Trains on the part and tests on the rest: roles the wrong way round.
# price: 0.65
# truth: Trains on one part and tests on all others.

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    n = x_train.shape[0]
    size = n // num_folds
    result = {}
    for k in k_choices:
        result[k] = []
        for f in range(num_folds):
            inside = torch.zeros(n, dtype=torch.bool)
            inside[f * size:(f + 1) * size] = True
            model = KnnClassifier(x_train[inside], y_train[inside])
            acc = model.check_accuracy(x_train[~inside], y_train[~inside], k, quiet=True)
            result[k].append(acc)
    return result


# %% cross_validate_list_not_joined
# taking: Forgot torch.cat, so it crashes; folds, loops and result are right.
# price: 0.75
# truth: Hands lists of parts to the classifier without joining them, which raises.

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    xs, ys = list(x_train.chunk(num_folds)), list(y_train.chunk(num_folds))
    accs = {k: [] for k in k_choices}
    for i in range(num_folds):
        xs_tr = [x for n, x in enumerate(xs) if n != i]
        ys_tr = [y for n, y in enumerate(ys) if n != i]
        clf = KnnClassifier(xs_tr, ys_tr)
        for k in k_choices:
            accs[k] += [clf.check_accuracy(xs[i], ys[i], k=k, quiet=True)]
    return accs


# %% cross_validate_last_only
# taking: The list is made anew in the inner loop, so only the last fold is left.
# price: 0.75
# truth: Keeps only the accuracy of the last fold for each k.

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    X = x_train.split(x_train.shape[0] // num_folds)
    Y = y_train.split(y_train.shape[0] // num_folds)
    out = dict()
    for fold in range(num_folds):
        rest_x = torch.cat([*X[:fold], *X[fold + 1:]], dim=0)
        rest_y = torch.cat([*Y[:fold], *Y[fold + 1:]], dim=0)
        net = KnnClassifier(rest_x, rest_y)
        for k in k_choices:
            out[k] = []
            out[k].append(net.check_accuracy(X[fold], Y[fold], k, True))
    return out


# %% cross_validate_mean_and_short
# taking: Leaves the last fold out and stores a mean instead of the list; training is right.
# price: 0.6
# truth: Stores one mean for each k instead of a list, and never tests on the last part.

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    x_parts = x_train.chunk(num_folds)
    y_parts = y_train.chunk(num_folds)
    table = {}
    for k in k_choices:
        total = 0.0
        for i in range(num_folds - 1):
            c = KnnClassifier(
                torch.cat(x_parts[:i] + x_parts[i + 1:]), torch.cat(y_parts[:i] + y_parts[i + 1:])
            )
            total += c.check_accuracy(x_parts[i], y_parts[i], k=k, quiet=True)
        table[k] = total / (num_folds - 1)
    return table


# %% best_k_first_of_ties
# taking: Only the tie rule is missed.
# price: 0.8
# truth: Of k with the same mean, returns the one that comes first in the dict.

def knn_get_best_k(k_to_accuracies):
    best_k, best_mean = None, -1
    for k, accs in k_to_accuracies.items():
        mean = sum(accs) / len(accs)
        if mean > best_mean:
            best_k = k
            best_mean = mean
    return best_k


# %% best_k_best_single
# taking: Maximum of one fold instead of the mean; ties and search are right.
# price: 0.55
# truth: Chooses the k with the best single accuracy instead of the best mean.

def knn_get_best_k(k_to_accuracies):
    ks = sorted(k_to_accuracies)
    return max(ks, key=lambda k: max(k_to_accuracies[k]))


# %% best_k_list_mean
# taking: Lists have no mean(), so it crashes; also ties go to the last.
# price: 0.6
# truth: Calls mean() on a list, which raises, and would take the greatest of k that tie.

def knn_get_best_k(k_to_accuracies):
    best = 0
    best_acc = 0.0
    for k in sorted(k_to_accuracies.keys()):
        acc = k_to_accuracies[k].mean()
        if acc >= best_acc:
            best_acc = acc
            best = k
    return best
