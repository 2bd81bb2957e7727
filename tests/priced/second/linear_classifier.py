# %% svm_naive_no_two
# taking: Factor 2 of the regularisation gradient missing, all else right.
# price: 0.85
# truth: The gradient has reg * W where 2 * reg * W belongs.

def svm_loss_naive(W, X, y, reg):
    dW = torch.zeros_like(W)
    num_classes = W.shape[1]
    num_train = X.shape[0]
    loss = 0.0
    for i in range(num_train):
        scores = W.t().mv(X[i])
        correct_class_score = scores[y[i]]
        for j in range(num_classes):
            if j == y[i]:
                continue
            margin = scores[j] - correct_class_score + 1
            if margin > 0:
                loss += margin
                dW[:, j] += X[i]
                dW[:, y[i]] -= X[i]
    loss /= num_train
    loss += reg * torch.sum(W * W)
    dW /= num_train
    dW += reg * W
    return loss, dW


# %% svm_naive_own_class_counted
# taking: Right class not left out, loss is one too large; the gradient is right.
# price: 0.8
# truth: Counts the margin of the right class too, so the loss is greater by one.

def svm_loss_naive(W, X, y, reg):
    N = len(X)
    total = torch.zeros((), dtype=W.dtype)
    grad = torch.zeros_like(W)
    for n in range(N):
        s = X[n] @ W
        for c in range(len(s)):
            m = s[c] - s[y[n]] + 1
            if m > 0:
                total = total + m / N
                grad[:, c] += X[n] / N
                grad[:, y[n]] -= X[n] / N
    return total + reg * W.pow(2).sum(), grad + 2 * reg * W


# %% svm_naive_half_gradient
# taking: One of two lines of the data gradient missing; loss right.
# price: 0.7
# truth: Does not take the row from the column of the right class in the gradient.

def svm_loss_naive(W, X, y, reg):
    loss = W.new_zeros(())
    dW = W * 0
    for x, t in zip(X, y):
        scores = x @ W
        for j in range(W.size(1)):
            if j != t:
                margin = scores[j] - scores[t] + 1
                if margin > 0:
                    loss += margin
                    dW[:, j] += x
    loss = loss / X.size(0) + reg * (W ** 2).sum()
    dW = dW / X.size(0) + 2 * reg * W
    return loss, dW


# %% svm_naive_autograd
# taking: Handout: autograd loses an eighth.
# price: 0.875
# truth: Gets the gradient from autograd, which is not allowed; the numbers are right.

def svm_loss_naive(W, X, y, reg):
    w = W.detach().clone().requires_grad_(True)
    parts = []
    for i in range(X.shape[0]):
        s = X[i] @ w
        for j in range(w.shape[1]):
            if j != int(y[i]):
                parts.append(torch.relu(s[j] - s[y[i]] + 1))
    loss = torch.stack(parts).sum() / X.shape[0] + reg * (w * w).sum()
    loss.backward()
    return loss.detach(), w.grad


# %% svm_naive_row_for_column
# taking: Indexes rows of dW instead of columns: crashes, logic is all right.
# price: 0.75
# truth: Adds the row of data to a row of the gradient instead of a column, which raises.

def svm_loss_naive(W, X, y, reg):
    dW = torch.zeros(W.shape, dtype=W.dtype)
    loss = torch.tensor(0.0, dtype=W.dtype)
    N, C = X.shape[0], W.shape[1]
    for i in range(N):
        f = torch.matmul(X[i], W)
        for c in range(C):
            if c == y[i].item():
                continue
            gap = f[c] - f[y[i]] + 1.0
            if gap > 0:
                loss = loss + gap
                dW[c] += X[i]
                dW[y[i]] -= X[i]
    return loss / N + reg * torch.sum(W * W), dW / N + 2 * reg * W


# %% svm_naive_loss_only
# taking: Only the loss is done; the gradient is a good half of the work.
# price: 0.4
# truth: The loss is right but the gradient is all zeros.

def svm_loss_naive(W, X, y, reg):
    loss = W.new_zeros(())
    grad = torch.zeros_like(W)
    for i in range(len(y)):
        scores = X[i] @ W
        margins = (scores - scores[y[i]] + 1).clamp(min=0)
        margins[y[i]] = 0
        loss = loss + margins.sum()
    loss = loss / len(y) + reg * (W * W).sum()
    # gradient: ran out of time
    return loss, grad


# %% svm_naive_no_margin_no_mean
# taking: Two errors: no 1 in the margin, gradient not averaged.
# price: 0.6
# truth: Leaves the 1 out of the margin and does not divide the gradient by the number of rows.

def svm_loss_naive(W, X, y, reg):
    loss, dW = W.new_zeros(()), torch.zeros_like(W)
    for i in range(X.shape[0]):
        scores = torch.mv(W.T, X[i])
        for j in range(W.shape[1]):
            hinge = scores[j] - scores[y[i]]
            if j != y[i] and hinge > 0:
                loss = loss + hinge
                dW[:, j] += X[i]
                dW[:, y[i]] -= X[i]
    loss = loss / X.shape[0] + reg * (W ** 2).sum()
    return loss, dW + 2 * reg * W


# %% svm_vectorized_row_loop
# taking: Handout: that there is no loop is half of the points.
# price: 0.5
# truth: Loops over the rows; the numbers are right.

def svm_loss_vectorized(W, X, y, reg):
    S = X @ W
    coeff = torch.zeros_like(S)
    loss = S.new_zeros(())
    for i in range(len(X)):
        m = (S[i] - S[i, y[i]] + 1).clamp(min=0)
        m[y[i]] = 0
        loss = loss + m.sum()
        coeff[i] = (m > 0).to(S.dtype)
        coeff[i, y[i]] = -coeff[i].sum()
    return loss / len(X) + reg * (W ** 2).sum(), X.t() @ coeff / len(X) + 2 * reg * W


# %% svm_vectorized_calls_naive
# taking: Nothing vectorised: it only calls the other answer, with its loops.
# price: 0.25
# truth: Calls svm_loss_naive, so the loops are only hidden.

def svm_loss_vectorized(W, X, y, reg):
    loss, dW = svm_loss_naive(W, X, y, reg)
    return loss, dW


# %% svm_vectorized_autograd
# taking: Handout: autograd loses an eighth; the forward pass is well vectorised.
# price: 0.875
# truth: Gets the gradient from autograd, which is not allowed; the numbers are right.

def svm_loss_vectorized(W, X, y, reg):
    with torch.enable_grad():
        V = W.clone().detach().requires_grad_()
        scores = X.mm(V)
        right = scores.gather(1, y.view(-1, 1))
        hinge = torch.relu(scores - right + 1).sum(dim=1) - 1
        loss = hinge.mean() + reg * V.square().sum()
        (grad,) = torch.autograd.grad(loss, V)
    return loss.detach(), grad


# %% svm_vectorized_bad_index
# taking: scores[:, y] instead of picking one for each row: crashes; otherwise right.
# price: 0.7
# truth: Picks whole columns by scores[:, y] instead of one score for each row, which raises unless N is C.

def svm_loss_vectorized(W, X, y, reg):
    N = X.shape[0]
    scores = X.mm(W)
    correct = scores[:, y]
    margins = torch.clamp(scores - correct + 1, min=0)
    margins[torch.arange(N), y] = 0
    loss = margins.sum() / N + reg * torch.sum(W * W)
    mask = (margins > 0).to(X.dtype)
    mask[torch.arange(N), y] = -mask.sum(1)
    dW = X.t().mm(mask) / N + 2 * reg * W
    return loss, dW


# %% svm_vectorized_bool_matrix
# taking: Mask left as booleans, so it crashes, and right class counted only once: two slips in the gradient.
# price: 0.65
# truth: Multiplies by a mask of booleans, which raises, and counts the right class once instead of minus the number of margins.

def svm_loss_vectorized(W, X, y, reg):
    idx = torch.arange(X.shape[0])
    scores = X @ W
    margins = torch.clamp(scores - scores[idx, y].unsqueeze(1) + 1, min=0)
    margins[idx, y] = 0
    loss = margins.sum(1).mean() + reg * (W * W).sum()
    positive = margins > 0
    dW = X.T @ positive - X.T @ torch.nn.functional.one_hot(y, W.shape[1]).to(X.dtype)
    return loss, dW / X.shape[0] + 2 * reg * W


# %% svm_vectorized_minus_one
# taking: Right class gets -1 instead of minus the count; loss and the rest right.
# price: 0.75
# truth: In the gradient, the right class counts -1 instead of minus the number of margins above 0.

def svm_loss_vectorized(W, X, y, reg):
    n = len(y)
    rows = torch.arange(n)
    scores = X @ W
    diff = scores - scores[rows, y].reshape(n, 1) + 1
    diff[rows, y] = 0
    hinge = diff.relu()
    counts = torch.where(hinge > 0, 1.0, 0.0).to(W.dtype)
    counts[rows, y] = -1
    loss = hinge.sum() / n + reg * (W * W).sum()
    grad = torch.einsum("nd,nc->dc", X, counts) / n + 2 * reg * W
    return loss, grad


# %% svm_vectorized_sums_and_no_reg
# taking: Two errors in vectorised code that is otherwise good: no mean in the loss, no reg in the gradient.
# price: 0.65
# truth: The loss is the sum over rows instead of the mean, and the gradient lacks the regularisation.

def svm_loss_vectorized(W, X, y, reg):
    scores = X @ W
    sy = scores.gather(1, y[:, None])
    M = (scores - sy + 1).clamp(min=0)
    M.scatter_(1, y[:, None], 0)
    G = M.sign()
    G.scatter_(1, y[:, None], -G.sum(1, keepdim=True))
    loss = M.sum() + reg * W.square().sum()
    return loss, X.T @ G / X.shape[0]


# %% softmax_naive_overflow
# taking: Handout says nothing may overflow; right for ordinary scores.
# price: 0.8
# truth: Takes no number from the scores before exp, so large scores overflow.

def softmax_loss_naive(W, X, y, reg):
    loss = torch.zeros((), dtype=W.dtype)
    dW = torch.zeros_like(W)
    N = X.shape[0]
    for i in range(N):
        e = torch.exp(X[i] @ W)
        p = e / e.sum()
        loss = loss - torch.log(p[y[i]])
        for j in range(W.shape[1]):
            if j == y[i]:
                dW[:, j] += (p[j] - 1) * X[i]
            else:
                dW[:, j] += p[j] * X[i]
    return loss / N + reg * (W * W).sum(), dW / N + 2 * reg * W


# %% softmax_naive_forgot_minus_one
# taking: Gradient misses the -1 for the right class; loss is right and stable.
# price: 0.7
# truth: The gradient does not take 1 from the probability of the right class.

def softmax_loss_naive(W, X, y, reg):
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for x, label in zip(X, y):
        s = x @ W
        s = s - s.max()
        z = s.exp().sum()
        loss = loss + z.log() - s[label]
        grad += torch.outer(x, s.exp() / z)
    n = X.shape[0]
    return loss / n + reg * (W ** 2).sum(), grad / n + 2 * reg * W


# %% softmax_naive_library
# taking: Handout: torch.softmax and relatives lose an eighth.
# price: 0.875
# truth: Uses torch.softmax and log_softmax, which are not allowed; the numbers are right.

def softmax_loss_naive(W, X, y, reg):
    num = X.shape[0]
    loss = 0
    dW = torch.zeros_like(W)
    for i in range(num):
        logits = X[i] @ W
        probs = torch.softmax(logits, dim=0)
        loss = loss - torch.log_softmax(logits, dim=0)[y[i]]
        probs[y[i]] -= 1
        dW += X[i].view(-1, 1) * probs.view(1, -1)
    return loss / num + reg * torch.sum(W * W), dW / num + 2 * reg * W


# %% softmax_naive_max_tuple
# taking: torch.max with dim gives a pair: crashes, all else is right.
# price: 0.8
# truth: Takes the pair that torch.max returns with dim from the scores, which raises.

def softmax_loss_naive(W, X, y, reg):
    loss = W.new_zeros(())
    dW = torch.zeros_like(W)
    N, C = X.shape[0], W.shape[1]
    for i in range(N):
        scores = X[i].matmul(W)
        scores = scores - torch.max(scores, dim=0)
        exps = torch.exp(scores)
        probs = exps / torch.sum(exps)
        loss += torch.log(torch.sum(exps)) - scores[y[i]]
        for c in range(C):
            dW[:, c] += (probs[c] - (1 if c == y[i] else 0)) * X[i]
    loss = loss / N + reg * torch.sum(W * W)
    dW = dW / N + 2 * reg * W
    return loss, dW


# %% softmax_naive_mixed_shift
# taking: Shifted sum with unshifted score: loss off, gradient right.
# price: 0.8
# truth: Takes the unshifted score of the right class from the log of the shifted sum, so the loss is wrong.

def softmax_loss_naive(W, X, y, reg):
    loss = W.new_zeros(())
    dW = torch.zeros_like(W)
    for i in range(len(X)):
        f = X[i] @ W
        ex = torch.exp(f - f.max())
        loss = loss - f[y[i]] + ex.sum().log()
        for j in range(W.shape[1]):
            pj = ex[j] / ex.sum()
            dW[:, j] += pj * X[i]
        dW[:, y[i]] -= X[i]
    return loss / len(X) + reg * (W * W).sum(), dW / len(X) + 2 * reg * W


# %% softmax_naive_sign_and_mean
# taking: Two errors: sign of the loss, and nothing divided by N.
# price: 0.55
# truth: Adds the logarithm of the probability instead of taking it away, and sums over rows instead of the mean.

def softmax_loss_naive(W, X, y, reg):
    loss = torch.zeros((), dtype=X.dtype)
    grad = torch.zeros_like(W)
    for i in range(X.shape[0]):
        s = X[i] @ W
        s = s - torch.max(s)
        logp = s - s.exp().sum().log()
        loss = loss + logp[y[i]]
        p = logp.exp()
        p[y[i]] -= 1
        grad += X[i].unsqueeze(1) @ p.unsqueeze(0)
    return loss + reg * (W * W).sum(), grad + 2 * reg * W


# %% softmax_vectorized_row_loop
# taking: Handout: that there is no loop is half of the points.
# price: 0.5
# truth: Goes over the rows in a loop; the numbers are right.

def softmax_loss_vectorized(W, X, y, reg):
    scores = X @ W
    N = scores.shape[0]
    loss = scores.new_zeros(())
    d = torch.zeros_like(scores)
    for i in range(N):
        row = scores[i] - scores[i].max()
        e = row.exp()
        loss = loss + e.sum().log() - row[y[i]]
        d[i] = e / e.sum()
        d[i, y[i]] -= 1
    return loss / N + reg * (W * W).sum(), X.t() @ d / N + 2 * reg * W


# %% softmax_vectorized_cross_entropy
# taking: Handout: an eighth is lost for autograd and torch.nn losses; a bit more as nothing is own work.
# price: 0.85
# truth: Uses cross_entropy and autograd, which are not allowed; the numbers are right.

def softmax_loss_vectorized(W, X, y, reg):
    w = W.detach().clone()
    w.requires_grad = True
    loss = torch.nn.functional.cross_entropy(X @ w, y) + reg * (w ** 2).sum()
    loss.backward()
    return loss.detach(), w.grad


# %% softmax_vectorized_wrong_axis
# taking: Normalises over the rows instead of the classes; one wrong axis spoils loss and gradient.
# price: 0.65
# truth: Sums the powers over the rows of the batch instead of over the classes.

def softmax_loss_vectorized(W, X, y, reg):
    N = X.shape[0]
    scores = torch.mm(X, W)
    scores = scores - scores.max(dim=1, keepdim=True)[0]
    p = torch.exp(scores)
    p = p / p.sum(dim=0)
    loss = -torch.log(p[torch.arange(N), y]).mean() + reg * (W * W).sum()
    p[torch.arange(N), y] -= 1
    return loss, X.t().mm(p) / N + 2 * reg * W


# %% softmax_vectorized_keepdim
# taking: keepdim forgotten for the maximum: crashes, otherwise complete.
# price: 0.8
# truth: Takes the maxima as a vector from the scores without keepdim, which raises unless N is C.

def softmax_loss_vectorized(W, X, y, reg):
    S = X.matmul(W)
    S = S - S.max(dim=1).values
    E = S.exp()
    P = E / E.sum(dim=1, keepdim=True)
    picked = P.gather(1, y.unsqueeze(1)).squeeze(1)
    loss = -picked.log().mean() + reg * W.pow(2).sum()
    onehot = torch.zeros_like(P).scatter_(1, y.unsqueeze(1), 1.0)
    return loss, X.T.matmul(P - onehot) / len(X) + 2 * reg * W


# %% softmax_vectorized_all_columns
# taking: P[:, y] -= 1 hits whole columns; loss right, gradient idea right.
# price: 0.75
# truth: In the gradient, takes 1 from all rows in the columns of y instead of from one entry for each row.

def softmax_loss_vectorized(W, X, y, reg):
    n = X.shape[0]
    z = X @ W
    z = z - z.amax(1, keepdim=True)
    log_p = z - z.exp().sum(1, keepdim=True).log()
    loss = -log_p[range(n), y].sum() / n + reg * torch.sum(W ** 2)
    dz = log_p.exp()
    dz[:, y] -= 1
    grad = X.T @ dz / n + 2 * reg * W
    return loss, grad


# %% softmax_vectorized_overflow
# taking: Only the guard against overflow is missing, which the handout asks for.
# price: 0.8
# truth: Takes no number from the scores before exp, so large scores give nan.

def softmax_loss_vectorized(W, X, y, reg):
    expo = (X @ W).exp()
    prob = expo / expo.sum(1).unsqueeze(1)
    ar = torch.arange(X.shape[0])
    data_loss = -prob[ar, y].log().mean()
    prob[ar, y] -= 1
    dW = X.t() @ prob
    dW /= X.shape[0]
    dW += 2 * reg * W
    return data_loss + reg * (W * W).sum(), dW


# %% softmax_vectorized_log_missing_no_reg
# taking: No log in the loss and no reg at all: two errors; the data gradient is right.
# price: 0.55
# truth: The loss is minus the probability without a logarithm, and reg is nowhere used.

def softmax_loss_vectorized(W, X, y, reg):
    scores = X @ W
    scores -= scores.max(1, keepdim=True).values
    probs = scores.exp() / scores.exp().sum(1, keepdim=True)
    target = torch.nn.functional.one_hot(y, W.shape[1]).to(probs.dtype)
    loss = -(probs * target).sum(dim=1).mean()
    grad = X.T @ (probs - target) / X.shape[0]
    return loss, grad


# %% softmax_vectorized_shape_only
# taking: Only scores and reg; no probability, no gradient of the data.
# price: 0.1
# truth: Returns only the regularisation part of the loss and of the gradient.

def softmax_loss_vectorized(W, X, y, reg):
    scores = X @ W
    # softmax goes here
    return reg * (W * W).sum(), 2 * reg * W


# %% sample_without_replacement
# taking: Fails only when the batch is above N, which the handout names.
# price: 0.8
# truth: Draws without repeats, so there are too few rows when batch_size is above N.

def sample_batch(X, y, batch_size):
    perm = torch.randperm(X.shape[0])[:batch_size]
    return X[perm], y[perm]


# %% sample_labels_apart
# taking: Rows drawn right, but labels drawn anew: pairs are broken, training could not work.
# price: 0.5
# truth: Draws other indices for the labels than for the rows.

def sample_batch(X, y, batch_size):
    n = X.shape[0]
    X_batch = X[torch.randint(0, n, (batch_size,))]
    y_batch = y[torch.randint(0, n, (batch_size,))]
    return X_batch, y_batch


# %% sample_size_not_tuple
# taking: Size must be a tuple: crashes by one slip.
# price: 0.8
# truth: Passes the size to randint as a number instead of a tuple, which raises.

def sample_batch(X, y, batch_size):
    num_train = X.shape[0]
    idx = torch.randint(0, num_train, batch_size)
    return X[idx], y[idx]


# %% sample_first_rows
# taking: Nothing random about it, and too short above N.
# price: 0.2
# truth: Always returns the first rows instead of drawing at random.

def sample_batch(X, y, batch_size):
    return X[:batch_size], y[:batch_size]


# %% train_changes_start
# taking: Changes W in place, against the docstring; training is right.
# price: 0.85
# truth: Updates W in place, so that the caller's W changes.

def train_linear_classifier(loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200):
    loss_history = []
    for it in range(num_iters):
        xb, yb = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, xb, yb, reg)
        loss_history.append(loss.item())
        W -= learning_rate * grad
    return W, loss_history


# %% train_uphill
# taking: One sign wrong so it climbs; the loop is otherwise complete.
# price: 0.75
# truth: Adds the gradient instead of taking it away.

def train_linear_classifier(loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200):
    W = W.clone()
    history = []
    step = 0
    while step < num_iters:
        batch = sample_batch(X, y, batch_size)
        loss, dW = loss_func(W, batch[0], batch[1], reg)
        W += learning_rate * dW
        history.append(float(loss))
        step += 1
    return W, history


# %% train_one_batch
# taking: Batch drawn once before the loop instead of each step; the rest is right.
# price: 0.75
# truth: Draws one batch and uses it in all steps.

def train_linear_classifier(loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200):
    w = W.clone()
    losses = []
    X_batch, y_batch = sample_batch(X, y, batch_size)
    for _ in range(num_iters):
        loss, grad = loss_func(w, X_batch, y_batch, reg)
        losses.append(loss.item())
        w = w - learning_rate * grad
    return w, losses


# %% train_tensor_losses_no_rate
# taking: Two errors: learning rate unused, losses kept as tensors.
# price: 0.65
# truth: Steps by the bare gradient without the learning rate, and the list holds tensors instead of floats.

def train_linear_classifier(loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200):
    all_losses = []
    cur = W.clone()
    for i in range(num_iters):
        Xb, yb = sample_batch(X, y, batch_size)
        L, g = loss_func(cur, Xb, yb, reg)
        all_losses.append(L)
        cur = cur - g
    return cur, all_losses


# %% train_fixed_loss
# taking: Loss function is hard-wired, so the parameter is ignored; descent itself is right.
# price: 0.7
# truth: Calls svm_loss_vectorized whatever loss_func is.

def train_linear_classifier(loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200):
    result = W.clone()
    curve = []
    for _ in range(num_iters):
        a, b = sample_batch(X, y, batch_size)
        value, slope = svm_loss_vectorized(result, a, b, reg)
        curve.append(value.item())
        result.sub_(slope, alpha=learning_rate)
    return result, curve


# %% train_item_on_pair
# taking: Does not unpack what loss_func returns: crash at once, the plan is right.
# price: 0.7
# truth: Treats the pair of loss and gradient as the loss and calls backward on it, which raises.

def train_linear_classifier(loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200):
    W = W.clone().requires_grad_(True)
    losses = []
    for _ in range(num_iters):
        X_b, y_b = sample_batch(X, y, batch_size)
        loss = loss_func(W, X_b, y_b, reg)
        loss.backward()
        with torch.no_grad():
            W -= learning_rate * W.grad
            W.grad.zero_()
        losses.append(loss.item())
    return W.detach(), losses


# %% predict_scores
# taking: Gives the highest score itself, not its class.
# price: 0.6
# truth: Returns the highest scores instead of their classes.

def predict_linear_classifier(W, X):
    y_pred, _ = torch.max(X @ W, dim=1)
    return y_pred


# %% predict_swapped_product
# taking: Operands in the wrong order and axis 0: two slips in one line, crashes.
# price: 0.5
# truth: Multiplies W by X instead of X by W, which raises, and would take the maximum over rows.

def predict_linear_classifier(W, X):
    scores = W.mm(X)
    return torch.argmax(scores, dim=0)


# %% predict_flat_argmax
# taking: Forgot the axis; product and argmax right.
# price: 0.65
# truth: Takes argmax over the whole matrix of scores, so there is one number instead of one for each row.

def predict_linear_classifier(W, X):
    return torch.matmul(X, W).argmax()


# %% find_scaled_not_undone
# taking: Trains and chooses well but W is for scaled rows; misses the last step of the hint.
# price: 0.55
# truth: Returns W for rows that were divided by the spread, without dividing W by it.

def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    sd = X_train.std(0)
    best_acc, best_W = -1, None
    for lr in [0.01, 0.1, 0.5]:
        for reg in [0.0, 1e-3]:
            W0 = torch.zeros(X_train.shape[1], num_classes)
            W, _ = train_linear_classifier(
                softmax_loss_vectorized, W0, X_train / sd, y_train, lr, reg, 200, 200
            )
            acc = (predict_linear_classifier(W, X_val / sd) == y_val).float().mean()
            if acc > best_acc:
                best_acc, best_W = acc, W
    return best_W


# %% find_raw_rows
# taking: Real search and choice by X_val, but no scaling, so the result is weak.
# price: 0.4
# truth: Trains on rows as they come, with small rates only, so it is right for few rows.

def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    results = {}
    for lr in (1e-5, 1e-4, 1e-3):
        W = 0.001 * torch.randn(X_train.shape[1], num_classes)
        W, _ = train_linear_classifier(
            svm_loss_vectorized, W, X_train, y_train, learning_rate=lr, reg=1e-3, num_iters=100
        )
        right = predict_linear_classifier(W, X_val) == y_val
        results[right.float().mean().item()] = W
    return results[max(results)]


# %% find_transposed_start
# taking: W begins with the axes swapped, so it crashes; scaling and choice are all there.
# price: 0.7
# truth: Begins with W of shape (C, D) instead of (D, C), which raises.

def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    scale = X_train.std(dim=0, keepdim=True)
    Xs = X_train / scale
    best = (-1.0, None)
    for lr in (0.05, 0.2, 0.8):
        start = torch.zeros(num_classes, X_train.shape[1])
        W, _ = train_linear_classifier(softmax_loss_vectorized, start, Xs, y_train, lr, 1e-4, 300)
        W = W / scale.T
        acc = float((predict_linear_classifier(W, X_val) == y_val).double().mean())
        if acc > best[0]:
            best = (acc, W)
    return best[1]


# %% find_no_training
# taking: Shape only, nothing is trained or chosen.
# price: 0.05
# truth: Returns random weights without any training.

def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    torch.manual_seed(0)
    return torch.randn(X_train.shape[1], num_classes) * 0.01
