# %% svm_naive_right_column_forgotten
# taking: Loss and regularisation are right; in the gradient only the wrong classes get their row, the right class is never taken down.
# price: 0.72
# truth: The row is not subtracted from the column of the right class.

def svm_loss_naive(W, X, y, reg):
    N = X.shape[0]
    C = W.shape[1]
    dW = torch.zeros_like(W)
    loss = torch.zeros((), dtype=W.dtype)
    for i in range(N):
        s = X[i] @ W
        for c in range(C):
            if c == y[i]:
                continue
            m = s[c] - s[y[i]] + 1
            if m > 0:
                loss += m
                dW[:, c] += X[i]
    loss = loss / N + reg * torch.sum(W ** 2)
    dW = dW / N + 2 * reg * W
    return loss, dW

# %% svm_naive_right_class_counted
# taking: Gradient is right; the loss counts the right class too, so it is 1 too large for each row. A small slip in careful work.
# price: 0.65
# truth: The margin 1 of the right class is added to the loss of each row.

def svm_loss_naive(W, X, y, reg):
    grad = torch.zeros_like(W)
    total = X.new_tensor(0.0)
    n = len(X)
    for i in range(n):
        scores = W.t().mv(X[i])
        correct = scores[y[i]]
        for j in range(W.shape[1]):
            margin = scores[j] - correct + 1.0
            if margin > 0:
                total = total + margin
                grad[:, j] += X[i]
                grad[:, y[i]] -= X[i]
    total = total / n + reg * (W * W).sum()
    grad = grad / n + 2.0 * reg * W
    return total, grad

# %% svm_naive_half_reg_and_sum
# taking: Loop and margins right; forgets to divide by N in both, and takes half of the regularisation. Two slips.
# price: 0.4
# truth: Sum over rows instead of the mean, and reg with a factor 1/2.

def svm_loss_naive(W, X, y, reg):
    loss = 0.0
    grad = torch.zeros_like(W)
    for x, label in zip(X, y):
        scores = x @ W
        for c in range(len(scores)):
            if c != label:
                m = scores[c] - scores[label] + 1
                if m > 0:
                    loss = loss + m
                    grad[:, c] = grad[:, c] + x
                    grad[:, label] = grad[:, label] - x
    loss = loss + 0.5 * reg * (W ** 2).sum()
    grad = grad + reg * W
    return loss, grad

# %% svm_vec_gradient_missing
# taking: Half-finished: the loss is right and without loops, but the gradient is zeros plus regularisation.
# price: 0.5
# truth: The gradient has only the regularisation term.

def svm_loss_vectorized(W, X, y, reg):
    num_train = X.shape[0]
    scores = X.mm(W)
    correct = scores.gather(1, y.unsqueeze(1))
    margins = torch.clamp(scores - correct + 1, min=0)
    margins.scatter_(1, y.unsqueeze(1), 0)
    loss = margins.sum() / num_train + reg * torch.sum(W * W)
    dW = torch.zeros_like(W)
    # TODO: gradient
    dW += 2 * reg * W
    return loss, dW

# %% svm_vec_count_total
# taking: Loss right, no loop; gradient nearly: the right class gets -1 instead of minus the number of positive margins.
# price: 0.8
# truth: Takes the row once from the right class, however many margins are positive.

def svm_loss_vectorized(W, X, y, reg):
    N = X.size(0)
    idx = torch.arange(N)
    S = X @ W
    M = S - S[idx, y].view(-1, 1) + 1
    M[idx, y] = 0
    M = torch.relu(M)
    loss = M.sum() / N + reg * W.pow(2).sum()
    mask = torch.zeros_like(M)
    mask[M > 0] = 1
    mask[idx, y] = -1
    dW = X.t() @ mask / N + 2 * reg * W
    return loss, dW

# %% svm_vec_wrong_indexing
# taking: Right plan, no loops; scores[:, y] gives an N by N matrix where one score a row is meant; so it raises unless N equals C.
# price: 0.55
# truth: scores[:, y] picks columns for all rows instead of one entry per row, so the subtraction raises.

def svm_loss_vectorized(W, X, y, reg):
    scores = torch.matmul(X, W)
    right = scores[:, y]
    margins = torch.maximum(torch.zeros_like(scores), scores - right + 1)
    margins[torch.arange(len(y)), y] = 0
    ind = (margins > 0).to(W.dtype)
    ind[torch.arange(len(y)), y] -= ind.sum(1)
    loss = margins.mean(0).sum() + reg * (W ** 2).sum()
    return loss, X.t().matmul(ind) / len(y) + 2 * reg * W

# %% svm_vec_loop_over_classes
# taking: Right numbers, but loops over the classes; without a loop is half of the points.
# price: 0.5
# truth: Has a for loop over the classes.

def svm_loss_vectorized(W, X, y, reg):
    n = X.shape[0]
    scores = X @ W
    correct = scores[torch.arange(n), y]
    loss = torch.zeros((), dtype=X.dtype)
    grad = torch.zeros_like(W)
    for c in range(W.shape[1]):
        margin = scores[:, c] - correct + 1
        active = ((margin > 0) & (y != c)).to(X.dtype)
        loss = loss + (margin * active).sum()
        grad[:, c] += X.t() @ active
        onehot = torch.nn.functional.one_hot(y, W.shape[1]).to(X.dtype)
        grad -= X.t() @ (onehot * active[:, None])
    return loss / n + reg * (W * W).sum(), grad / n + 2 * reg * W

# %% softmax_naive_no_shift
# taking: Loss and gradient are right for small scores; the stabilising shift, named in the docstring, is missing.
# price: 0.9
# truth: Does not take the maximum from the scores, so large scores overflow to nan.

def softmax_loss_naive(W, X, y, reg):
    loss = torch.tensor(0.0, dtype=W.dtype)
    dW = torch.zeros_like(W)
    N = X.shape[0]
    for i in range(N):
        s = X[i] @ W
        e = torch.exp(s)
        p = e / e.sum()
        loss = loss - torch.log(p[y[i]])
        for c in range(W.shape[1]):
            if c == y[i]:
                dW[:, c] += (p[c] - 1) * X[i]
            else:
                dW[:, c] += p[c] * X[i]
    return loss / N + reg * (W * W).sum(), dW / N + 2 * reg * W

# %% softmax_naive_sign
# taking: Stable, mean and regularisation right; the sign of the logarithm was forgotten and the gradient belongs to the other sign.
# price: 0.65
# truth: Loss is plus the logarithm of the probability, while the gradient is right.

def softmax_loss_naive(W, X, y, reg):
    num = X.shape[0]
    data_loss = torch.zeros(num, dtype=X.dtype)
    grad = torch.zeros_like(W)
    for i in range(num):
        z = torch.mv(W.t(), X[i])
        z = z - torch.max(z)
        ez = torch.exp(z)
        data_loss[i] = z[y[i]] - torch.log(torch.sum(ez))
        coeff = ez / torch.sum(ez)
        coeff[y[i]] -= 1
        grad += torch.outer(X[i], coeff)
    loss = data_loss.sum() / num + reg * torch.sum(W ** 2)
    return loss, grad / num + 2 * reg * W

# %% softmax_naive_autograd
# taking: Loss by hand and stable, but the gradient comes from autograd, which is expressly not allowed (an eighth).
# price: 0.87
# truth: The gradient is made by autograd.

def softmax_loss_naive(W, X, y, reg):
    Wg = W.detach().clone().requires_grad_(True)
    total = 0
    for i in range(len(X)):
        scores = X[i] @ Wg
        scores = scores - scores.max().detach()
        total = total - scores[y[i]] + scores.exp().sum().log()
    loss = total / len(X) + reg * (Wg ** 2).sum()
    loss.backward()
    return loss.detach(), Wg.grad

# %% softmax_vec_wrong_axis
# taking: Without loop and stable, but exponentials are added over the rows instead of the classes; loss and gradient are both wrong.
# price: 0.6
# truth: Sums exp over dim 0 (rows) instead of over the classes.

def softmax_loss_vectorized(W, X, y, reg):
    n = X.shape[0]
    S = X @ W
    S = S - S.max(dim=1, keepdim=True)[0]
    E = torch.exp(S)
    P = E / E.sum(dim=0, keepdim=True)
    loss = -torch.log(P[torch.arange(n), y]).mean() + reg * (W ** 2).sum()
    P[torch.arange(n), y] -= 1
    grad = X.t().mm(P) / n + 2 * reg * W
    return loss, grad

# %% softmax_vec_log_of_zero
# taking: Loss, gradient and no loops right; the shift is there, but log of the probability is -inf for far rows; large scores are not fully handled.
# price: 0.93
# truth: Takes the logarithm of p, which underflows to 0 for large scores, so the loss is infinite.

def softmax_loss_vectorized(W, X, y, reg):
    N = len(y)
    scores = torch.einsum("nd,dc->nc", X, W)
    shifted = scores - torch.amax(scores, dim=1).unsqueeze(1)
    num = shifted.exp()
    probs = num / num.sum(1).unsqueeze(1)
    picked = probs.gather(1, y.view(-1, 1)).squeeze(1)
    loss = -(picked.log().sum()) / N + reg * (W * W).sum()
    target = torch.zeros_like(probs).scatter(1, y.view(-1, 1), 1.0)
    dW = torch.mm(X.t(), probs - target) / N + 2 * reg * W
    return loss, dW

# %% softmax_vec_calls_naive
# taking: Only a call of the loop version: nothing was vectorised and nothing new was done.
# price: 0.25
# truth: Hands the work to softmax_loss_naive, which loops over the rows.

def softmax_loss_vectorized(W, X, y, reg):
    loss, grad = softmax_loss_naive(W, X, y, reg)
    return loss, grad

# %% softmax_vec_reg_and_labels
# taking: Loss right without loop and stable; gradient forgets the one of the right class and the 2 of the regularisation: two slips.
# price: 0.72
# truth: The gradient lacks the -1 at the right class, and has reg * W instead of 2 * reg * W.

def softmax_loss_vectorized(W, X, y, reg):
    rows = X.shape[0]
    logits = X.matmul(W)
    biggest, _ = logits.max(dim=1, keepdim=True)
    logits = logits - biggest
    expo = logits.exp()
    norm = expo.sum(dim=1, keepdim=True)
    logp = logits - norm.log()
    loss = -logp[torch.arange(rows), y].sum() / rows
    loss = loss + reg * W.square().sum()
    grad = X.t().matmul(expo / norm) / rows + reg * W
    return loss, grad

# %% sample_separate_indices
# taking: Draws at random with replacement, but separately for rows and labels: labels do not belong to their rows, which ruins training.
# price: 0.3
# truth: X and y are indexed by two different random draws.

def sample_batch(X, y, batch_size):
    N = X.shape[0]
    xb = X[torch.randint(0, N, (batch_size,))]
    yb = y[torch.randint(0, N, (batch_size,))]
    return xb, yb

# %% sample_last_row_never
# taking: Right but for an off-by-one: randint's end is exclusive already, so the last row is never drawn (and N = 1 raises).
# price: 0.65
# truth: randint(0, N - 1) never draws the last row.

def sample_batch(X, y, batch_size):
    n = len(X) - 1
    idx = torch.randint(low=0, high=n, size=(batch_size,))
    return X.index_select(0, idx), y.index_select(0, idx)

# %% train_in_place
# taking: Training is right in every number, but the caller's W is overwritten, though it is said twice that it may not be.
# price: 0.85
# truth: W -= ... changes the W that was passed in.

def train_linear_classifier(loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200):
    loss_history = []
    for it in range(num_iters):
        xb, yb = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, xb, yb, reg)
        loss_history.append(loss.item())
        W -= learning_rate * grad
    return W, loss_history

# %% train_one_batch_uphill
# taking: Two slips: the batch is drawn once before the loop, and the gradient is added, so the loss rises. Losses are floats.
# price: 0.3
# truth: Draws a single batch before the loop and steps uphill.

def train_linear_classifier(loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200):
    w = W.clone()
    batch_x, batch_y = sample_batch(X, y, batch_size)
    losses = []
    i = 0
    while i < num_iters:
        loss, g = loss_func(w, batch_x, batch_y, reg)
        losses.append(float(loss))
        w = w + learning_rate * g
        i += 1
    return w, losses

# %% train_whole_data_tensor_losses
# taking: Descent is right, but with all rows instead of a batch, and the losses stay tensors; sample_batch is never used.
# price: 0.45
# truth: Uses X and y whole instead of sample_batch, and keeps the losses as tensors.

def train_linear_classifier(loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200):
    weights = W.clone()
    all_losses = []
    for step in range(1, num_iters + 1):
        loss, dW = loss_func(weights, X, y, reg)
        all_losses.append(loss)
        weights = weights - learning_rate * dW
    return weights, all_losses

# %% predict_over_rows
# taking: Scores right, the maximum is sought along the rows: C numbers come out instead of N. The single decision of this question is wrong.
# price: 0.35
# truth: argmax over dim 0 instead of over the classes.

def predict_linear_classifier(W, X):
    scores = torch.mm(X, W)
    best = torch.argmax(scores, dim=0)
    return best

# %% find_default_settings
# taking: Trains once with defaults on the unscaled rows, no choice, no use of the validation rows: hardly any of the task.
# price: 0.15
# truth: One training from zeros with the defaults on unscaled rows; nothing is tried or chosen.

def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    W = torch.zeros(X_train.shape[1], num_classes)
    W, losses = train_linear_classifier(svm_loss_vectorized, W, X_train, y_train)
    return W

# %% find_scale_not_undone
# taking: A real search over rates and strengths on rows brought to one spread, but W is for the scaled rows: both the choice and the result suffer.
# price: 0.35
# truth: Trains on scaled rows and validates on scaled ones, and returns W without dividing it by the spread.

def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    std = X_train.std(dim=0)
    Xt, Xv = X_train / std, X_val / std
    best_W, best_acc = None, 0
    for lr in [0.01, 0.1, 0.5]:
        for reg in [0.0, 1e-4, 1e-2]:
            W = 0.001 * torch.randn(Xt.shape[1], num_classes)
            W, _ = train_linear_classifier(softmax_loss_vectorized, W, Xt, y_train, lr, reg, 200, 200)
            acc = (predict_linear_classifier(W, Xv) == y_val).float().mean().item()
            if acc > best_acc:
                best_acc, best_W = acc, W
    return best_W
