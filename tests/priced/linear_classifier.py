"""Wrong answers to linear_classifier, each with the share of points that a good TA would give."""


# %% svm_naive_no_n
# taking: Loops and gradient right; division by N forgotten in both.
# price: 0.65
# truth: The division by N is missing in loss and gradient.
def svm_loss_naive(W, X, y, reg):
    loss, dW = 0.0, torch.zeros_like(W)
    for i in range(X.shape[0]):
        scores = W.t().mv(X[i])
        for j in range(W.shape[1]):
            if j == y[i]:
                continue
            margin = scores[j] - scores[y[i]] + 1
            if margin > 0:
                loss += margin
                dW[:, j] += X[i]
                dW[:, y[i]] -= X[i]
    loss += reg * torch.sum(W * W)
    dW += 2 * reg * W
    return loss, dW


# %% svm_naive_gradient_no_n
# taking: Loss right; gradient not divided by N.
# price: 0.8
# truth: The gradient is not divided by N.
def svm_loss_naive(W, X, y, reg):
    loss, dW = W.new_zeros(()), torch.zeros_like(W)
    for i in range(X.shape[0]):
        scores = X[i] @ W
        for j in range(W.shape[1]):
            if j == y[i]:
                continue
            margin = scores[j] - scores[y[i]] + 1
            if margin > 0:
                loss = loss + margin
                dW[:, j] += X[i]
                dW[:, y[i]] -= X[i]
    loss = loss / X.shape[0] + reg * torch.sum(W * W)
    return loss, dW + 2 * reg * W


# %% svm_naive_reg_factor
# taking: Factor 2 forgotten in the derivative of the regularisation.
# price: 0.85
# truth: The gradient of the regularisation lacks its factor 2.
def svm_loss_naive(W, X, y, reg):
    loss, dW = W.new_zeros(()), torch.zeros_like(W)
    N = X.shape[0]
    for i in range(N):
        scores = X[i] @ W
        for j in range(W.shape[1]):
            margin = scores[j] - scores[y[i]] + 1
            if j != y[i] and margin > 0:
                loss = loss + margin
                dW[:, j] += X[i]
                dW[:, y[i]] -= X[i]
    return loss / N + reg * (W * W).sum(), dW / N + reg * W


# %% svm_naive_correct_class_counted
# taking: The right class is not left out: loss 1 too high, gradient right.
# price: 0.75
# truth: The right class is counted too, so the loss is 1 too great.
def svm_loss_naive(W, X, y, reg):
    loss, dW = W.new_zeros(()), torch.zeros_like(W)
    N = X.shape[0]
    for i in range(N):
        scores = X[i] @ W
        for j in range(W.shape[1]):
            margin = scores[j] - scores[y[i]] + 1
            if margin > 0:
                loss = loss + margin
                dW[:, j] += X[i]
                dW[:, y[i]] -= X[i]
    return loss / N + reg * (W * W).sum(), dW / N + 2 * reg * W


# %% svm_naive_no_right_column
# taking: The gradient's part for the right class is missing; loss right.
# price: 0.7
# truth: The gradient lacks the part of the right class.
def svm_loss_naive(W, X, y, reg):
    loss, dW = W.new_zeros(()), torch.zeros_like(W)
    N = X.shape[0]
    for i in range(N):
        scores = X[i] @ W
        for j in range(W.shape[1]):
            margin = scores[j] - scores[y[i]] + 1
            if j != y[i] and margin > 0:
                loss = loss + margin
                dW[:, j] += X[i]
    return loss / N + reg * (W * W).sum(), dW / N + 2 * reg * W


# %% svm_naive_loss_only
# taking: Half: loss right, the gradient is left zeros.
# price: 0.5
# truth: The gradient is not computed: it stays zero.
def svm_loss_naive(W, X, y, reg):
    loss, dW = W.new_zeros(()), torch.zeros_like(W)
    N = X.shape[0]
    for i in range(N):
        scores = X[i] @ W
        for j in range(W.shape[1]):
            margin = scores[j] - scores[y[i]] + 1
            if j != y[i] and margin > 0:
                loss = loss + margin
    return loss / N + reg * (W * W).sum(), dW


# %% svm_naive_no_delta
# taking: Margin of 1 forgotten.
# price: 0.65
# truth: The 1 of the margin is missing.
def svm_loss_naive(W, X, y, reg):
    loss, dW = W.new_zeros(()), torch.zeros_like(W)
    N = X.shape[0]
    for i in range(N):
        scores = X[i] @ W
        for j in range(W.shape[1]):
            margin = scores[j] - scores[y[i]]
            if j != y[i] and margin > 0:
                loss = loss + margin
                dW[:, j] += X[i]
                dW[:, y[i]] -= X[i]
    return loss / N + reg * (W * W).sum(), dW / N + 2 * reg * W


# %% svm_vec_half_reg
# taking: 0.5 * reg convention of the lecture in loss and gradient.
# price: 0.85
# truth: The regularisation has a factor 1/2 that is not asked for.
def svm_loss_vectorized(W, X, y, reg):
    N = X.shape[0]
    scores = X @ W
    correct = scores[torch.arange(N), y].view(-1, 1)
    margins = torch.clamp(scores - correct + 1, min=0)
    margins[torch.arange(N), y] = 0
    loss = margins.sum() / N + 0.5 * reg * (W * W).sum()
    mask = (margins > 0).to(X.dtype)
    mask[torch.arange(N), y] = -mask.sum(dim=1)
    return loss, X.t() @ mask / N + reg * W


# %% svm_vec_loss_only
# taking: Loss vectorised, gradient missing.
# price: 0.5
# truth: The gradient is not computed: it is zero.
def svm_loss_vectorized(W, X, y, reg):
    N = X.shape[0]
    dW = torch.zeros_like(W)
    scores = X @ W
    correct = scores[torch.arange(N), y].view(-1, 1)
    margins = torch.clamp(scores - correct + 1, min=0)
    margins[torch.arange(N), y] = 0
    return margins.sum() / N + reg * (W * W).sum(), dW


# %% svm_vec_loop
# taking: Calls the naive one: half as said.
# price: 0.5
# truth: It loops: it calls the naive function.
def svm_loss_vectorized(W, X, y, reg):
    return svm_loss_naive(W, X, y, reg)


# %% svm_vec_right_not_zeroed
# taking: Forgets to zero the right class in margins: loss +1, gradient right.
# price: 0.8
# truth: The margin of the right class is not set to 0, so the loss is 1 too great.
def svm_loss_vectorized(W, X, y, reg):
    N = X.shape[0]
    scores = X @ W
    correct = scores[torch.arange(N), y].view(-1, 1)
    margins = torch.clamp(scores - correct + 1, min=0)
    loss = margins.sum() / N + reg * (W * W).sum()
    mask = (margins > 0).to(X.dtype)
    mask[torch.arange(N), y] = 0
    mask[torch.arange(N), y] = -mask.sum(dim=1)
    return loss, X.t() @ mask / N + 2 * reg * W


# %% svm_vec_gradient_no_n
# taking: Gradient not divided by N, the rest right and vectorised.
# price: 0.85
# truth: The gradient is not divided by N.
def svm_loss_vectorized(W, X, y, reg):
    N = X.shape[0]
    scores = X @ W
    correct = scores[torch.arange(N), y].view(-1, 1)
    margins = torch.clamp(scores - correct + 1, min=0)
    margins[torch.arange(N), y] = 0
    mask = (margins > 0).to(X.dtype)
    mask[torch.arange(N), y] -= mask.sum(dim=1)
    return margins.sum() / N + reg * (W * W).sum(), X.t() @ mask + 2 * reg * W


# %% svm_vec_sign
# taking: Gradient of the right class has the wrong sign.
# price: 0.75
# truth: The part of the right class has the wrong sign in the gradient.
def svm_loss_vectorized(W, X, y, reg):
    N = X.shape[0]
    scores = X @ W
    correct = scores[torch.arange(N), y].view(-1, 1)
    margins = torch.clamp(scores - correct + 1, min=0)
    margins[torch.arange(N), y] = 0
    mask = (margins > 0).to(X.dtype)
    mask[torch.arange(N), y] = mask.sum(dim=1)
    return margins.sum() / N + reg * (W * W).sum(), X.t() @ mask / N + 2 * reg * W


# %% svm_vec_autograd
# taking: Right numbers by autograd: rule said to be worth half.
# price: 0.45
# truth: It uses autograd, which is not allowed.
def svm_loss_vectorized(W, X, y, reg):
    N = X.shape[0]
    W = W.clone().requires_grad_()
    scores = X @ W
    margins = (scores - scores[torch.arange(N), y].view(-1, 1) + 1).clamp(min=0)
    loss = (margins.sum() - N) / N + reg * (W * W).sum()
    loss.backward()
    return loss.detach(), W.grad


# %% svm_vec_all_rows
# taking: Index scores[:, y] in place of scores[arange, y].
# price: 0.5
# truth: scores[:, y] takes a matrix instead of each row's right score.
def svm_loss_vectorized(W, X, y, reg):
    N = X.shape[0]
    scores = X @ W
    correct = scores[:, y].diagonal().view(1, -1)[:, :1]
    margins = torch.clamp(scores - correct + 1, min=0)
    margins[torch.arange(N), y] = 0
    mask = (margins > 0).to(X.dtype)
    mask[torch.arange(N), y] = -mask.sum(dim=1)
    return margins.sum() / N + reg * (W * W).sum(), X.t() @ mask / N + 2 * reg * W


# %% softmax_naive_no_shift
# taking: Right but for the overflow that the docstring asks to avoid.
# price: 0.8
# truth: The greatest score is not taken away, so large scores overflow.
def softmax_loss_naive(W, X, y, reg):
    loss, dW = W.new_zeros(()), torch.zeros_like(W)
    N = X.shape[0]
    for i in range(N):
        scores = X[i] @ W
        p = scores.exp() / scores.exp().sum()
        loss = loss - torch.log(p[y[i]])
        for j in range(W.shape[1]):
            dW[:, j] += (p[j] - (j == y[i])) * X[i]
    return loss / N + reg * (W * W).sum(), dW / N + 2 * reg * W


# %% softmax_naive_log_of_p
# taking: Shifted, but log of a probability that is 0: large scores give infinity.
# price: 0.85
# truth: It takes the log of a probability that may be 0, so large scores give an infinite loss.
def softmax_loss_naive(W, X, y, reg):
    loss, dW = W.new_zeros(()), torch.zeros_like(W)
    N = X.shape[0]
    for i in range(N):
        scores = X[i] @ W
        scores = scores - scores.max()
        p = scores.exp() / scores.exp().sum()
        loss = loss - torch.log(p[y[i]])
        for j in range(W.shape[1]):
            dW[:, j] += (p[j] - (j == y[i])) * X[i]
    return loss / N + reg * (W * W).sum(), dW / N + 2 * reg * W


# %% softmax_naive_sign
# taking: Minus of the log forgotten; gradient right.
# price: 0.7
# truth: The loss has the wrong sign: the minus of the logarithm is missing.
def softmax_loss_naive(W, X, y, reg):
    loss, dW = W.new_zeros(()), torch.zeros_like(W)
    N = X.shape[0]
    for i in range(N):
        scores = X[i] @ W
        scores = scores - scores.max()
        loss = loss + scores[y[i]] - scores.exp().sum().log()
        p = scores.exp() / scores.exp().sum()
        for j in range(W.shape[1]):
            dW[:, j] += (p[j] - (j == y[i])) * X[i]
    return loss / N + reg * (W * W).sum(), dW / N + 2 * reg * W


# %% softmax_naive_minus_one_missing
# taking: The -1 for the right class is missing in the gradient.
# price: 0.7
# truth: The gradient lacks the -1 of the right class.
def softmax_loss_naive(W, X, y, reg):
    loss, dW = W.new_zeros(()), torch.zeros_like(W)
    N = X.shape[0]
    for i in range(N):
        scores = X[i] @ W
        scores = scores - scores.max()
        loss = loss - scores[y[i]] + scores.exp().sum().log()
        p = scores.exp() / scores.exp().sum()
        for j in range(W.shape[1]):
            dW[:, j] += p[j] * X[i]
    return loss / N + reg * (W * W).sum(), dW / N + 2 * reg * W


# %% softmax_naive_no_reg
# taking: Regularisation forgotten altogether.
# price: 0.8
# truth: The regularisation is missing in loss and gradient.
def softmax_loss_naive(W, X, y, reg):
    loss, dW = W.new_zeros(()), torch.zeros_like(W)
    N = X.shape[0]
    for i in range(N):
        scores = X[i] @ W
        scores = scores - scores.max()
        loss = loss - scores[y[i]] + scores.exp().sum().log()
        p = scores.exp() / scores.exp().sum()
        for j in range(W.shape[1]):
            dW[:, j] += (p[j] - (j == y[i])) * X[i]
    return loss / N, dW / N


# %% softmax_naive_no_n
# taking: Division by N forgotten in both.
# price: 0.65
# truth: The division by N is missing in loss and gradient.
def softmax_loss_naive(W, X, y, reg):
    loss, dW = W.new_zeros(()), torch.zeros_like(W)
    for i in range(X.shape[0]):
        scores = X[i] @ W
        scores = scores - scores.max()
        loss = loss - scores[y[i]] + scores.exp().sum().log()
        p = scores.exp() / scores.exp().sum()
        for j in range(W.shape[1]):
            dW[:, j] += (p[j] - (j == y[i])) * X[i]
    return loss + reg * (W * W).sum(), dW + 2 * reg * W


# %% softmax_vec_dim0
# taking: Sums over the wrong dimension.
# price: 0.5
# truth: The softmax runs over the rows of the batch (dim 0) instead of the classes.
def softmax_loss_vectorized(W, X, y, reg):
    N = X.shape[0]
    scores = X @ W
    scores = scores - scores.max(dim=0, keepdim=True).values
    p = scores.exp() / scores.exp().sum(dim=0, keepdim=True)
    loss = -p[torch.arange(N), y].log().sum() / N + reg * (W * W).sum()
    p[torch.arange(N), y] -= 1
    return loss, X.t() @ p / N + 2 * reg * W


# %% softmax_vec_no_shift
# taking: No shift, else right, vectorised.
# price: 0.85
# truth: The greatest score is not taken away, so large scores overflow.
def softmax_loss_vectorized(W, X, y, reg):
    N = X.shape[0]
    e = (X @ W).exp()
    p = e / e.sum(dim=1, keepdim=True)
    loss = -p[torch.arange(N), y].log().mean() + reg * (W * W).sum()
    p[torch.arange(N), y] -= 1
    return loss, X.t() @ p / N + 2 * reg * W


# %% softmax_vec_torch
# taking: Uses torch.softmax, not allowed: costs the half.
# price: 0.45
# truth: It uses torch.softmax, which is not allowed.
def softmax_loss_vectorized(W, X, y, reg):
    N = X.shape[0]
    p = torch.softmax(X @ W, dim=1)
    loss = -p[torch.arange(N), y].clamp(min=1e-30).log().mean() + reg * (W * W).sum()
    p[torch.arange(N), y] -= 1
    return loss, X.t() @ p / N + 2 * reg * W


# %% softmax_vec_sum_loss
# taking: Loss is a sum, gradient is right.
# price: 0.8
# truth: The loss is not divided by N.
def softmax_loss_vectorized(W, X, y, reg):
    N = X.shape[0]
    s = X @ W
    s = s - s.max(dim=1, keepdim=True).values
    logp = s - s.exp().sum(dim=1, keepdim=True).log()
    loss = -logp[torch.arange(N), y].sum() + reg * (W * W).sum()
    p = logp.exp()
    p[torch.arange(N), y] -= 1
    return loss, X.t() @ p / N + 2 * reg * W


# %% softmax_vec_gradient_transposed
# taking: Gradient is transposed: (C, D).
# price: 0.8
# truth: The gradient is transposed: shape (C, D) instead of (D, C).
def softmax_loss_vectorized(W, X, y, reg):
    N = X.shape[0]
    s = X @ W
    s = s - s.max(dim=1, keepdim=True).values
    logp = s - s.exp().sum(dim=1, keepdim=True).log()
    loss = -logp[torch.arange(N), y].sum() / N + reg * (W * W).sum()
    p = logp.exp()
    p[torch.arange(N), y] -= 1
    return loss, p.t() @ X / N + 2 * reg * W.t()


# %% softmax_vec_max_tuple
# taking: max(dim=1) returned whole: crashes; everything else is there.
# price: 0.6
# truth: max(dim=1) gives values and indices; .values is missing, so it raises an error.
def softmax_loss_vectorized(W, X, y, reg):
    N = X.shape[0]
    s = X @ W
    s = s - s.max(dim=1, keepdim=True)
    logp = s - s.exp().sum(dim=1, keepdim=True).log()
    loss = -logp[torch.arange(N), y].sum() / N + reg * (W * W).sum()
    p = logp.exp()
    p[torch.arange(N), y] -= 1
    return loss, X.t() @ p / N + 2 * reg * W


# %% softmax_vec_reg_loss_only
# taking: Regularisation in the loss only.
# price: 0.88
# truth: The gradient lacks the regularisation.
def softmax_loss_vectorized(W, X, y, reg):
    N = X.shape[0]
    s = X @ W
    s = s - s.max(dim=1, keepdim=True).values
    logp = s - s.exp().sum(dim=1, keepdim=True).log()
    loss = -logp[torch.arange(N), y].sum() / N + reg * (W * W).sum()
    p = logp.exp()
    p[torch.arange(N), y] -= 1
    return loss, X.t() @ p / N


# %% batch_first_rows
# taking: Takes the first rows; not random.
# price: 0.2
# truth: It always takes the first rows instead of random ones.
def sample_batch(X, y, batch_size):
    return X[:batch_size], y[:batch_size]


# %% batch_permutation
# taking: Without replacement; fails for batch_size > N.
# price: 0.75
# truth: It draws without replacement, so a batch larger than N is too short.
def sample_batch(X, y, batch_size):
    idx = torch.randperm(X.shape[0])[:batch_size]
    return X[idx], y[idx]


# %% batch_two_draws
# taking: Labels drawn by another index: pairs broken.
# price: 0.5
# truth: Rows and labels are drawn by different indices, so they do not belong together.
def sample_batch(X, y, batch_size):
    N = X.shape[0]
    return X[torch.randint(N, (batch_size,))], y[torch.randint(N, (batch_size,))]


# %% batch_last_row_never
# taking: Off by one: the last row never comes.
# price: 0.7
# truth: The last row is never drawn.
def sample_batch(X, y, batch_size):
    idx = torch.randint(0, X.shape[0] - 1, (batch_size,))
    return X[idx], y[idx]


# %% train_plus
# taking: Ascends.
# price: 0.6
# truth: The step goes up: the gradient is added instead of taken away.
def train_linear_classifier(loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200):
    history = []
    for it in range(num_iters):
        xb, yb = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, xb, yb, reg)
        history.append(loss.item())
        W = W + learning_rate * grad
    return W, history


# %% train_in_place
# taking: Right, but W is changed.
# price: 0.9
# truth: It changes the caller's W.
def train_linear_classifier(loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200):
    history = []
    for it in range(num_iters):
        xb, yb = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, xb, yb, reg)
        history.append(loss.item())
        W -= learning_rate * grad
    return W, history


# %% train_tensors
# taking: Losses as tensors.
# price: 0.9
# truth: The losses are tensors and not floats.
def train_linear_classifier(loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200):
    history = []
    for it in range(num_iters):
        xb, yb = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, xb, yb, reg)
        history.append(loss)
        W = W - learning_rate * grad
    return W, history


# %% train_no_update
# taking: Loop and losses, the step is forgotten.
# price: 0.35
# truth: W is never updated.
def train_linear_classifier(loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200):
    history = []
    for it in range(num_iters):
        xb, yb = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, xb, yb, reg)
        history.append(loss.item())
    return W, history


# %% train_weights_only
# taking: The list of losses is not returned.
# price: 0.7
# truth: It returns W alone: the list of losses is missing.
def train_linear_classifier(loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200):
    history = []
    for it in range(num_iters):
        xb, yb = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, xb, yb, reg)
        history.append(loss.item())
        W = W - learning_rate * grad
    return W


# %% train_full_data
# taking: The batch is drawn but the whole data are used.
# price: 0.6
# truth: It computes the loss on all rows instead of on the batch.
def train_linear_classifier(loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200):
    history = []
    for it in range(num_iters):
        xb, yb = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, X, y, reg)
        history.append(loss.item())
        W = W - learning_rate * grad
    return W, history


# %% train_reg_ignored
# taking: reg is not passed on.
# price: 0.75
# truth: reg is not passed to loss_func: 0 is.
def train_linear_classifier(loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200):
    history = []
    for it in range(num_iters):
        xb, yb = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, xb, yb, 0.0)
        history.append(loss.item())
        W = W - learning_rate * grad
    return W, history


# %% predict_dim0
# taking: argmax over the rows.
# price: 0.5
# truth: argmax runs over the rows (dim 0) instead of the classes.
def predict_linear_classifier(W, X):
    return (X @ W).argmax(dim=0)


# %% predict_max_values
# taking: max's values in place of its indices.
# price: 0.5
# truth: It returns the highest scores instead of their classes.
def predict_linear_classifier(W, X):
    return (X @ W).max(dim=1).values


# %% predict_whole_max
# taking: Returns the pair of values and indices.
# price: 0.6
# truth: It returns values and indices together; the indices alone are asked for.
def predict_linear_classifier(W, X):
    return torch.max(X @ W, dim=1)


# %% predict_argmin
# taking: Lowest score.
# price: 0.5
# truth: It takes the class with the lowest score.
def predict_linear_classifier(W, X):
    return torch.argmin(X.mm(W), dim=1)


# %% find_raw
# taking: Trains with the defaults on unscaled rows: little accuracy.
# price: 0.35
# truth: It trains on rows of very different size with one rate, so it is right for too few rows.
def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    W = torch.zeros(X_train.shape[1], num_classes)
    W, _ = train_linear_classifier(softmax_loss_vectorized, W, X_train, y_train, 1e-3, 1e-5, 300, 200)
    return W


# %% find_not_divided_back
# taking: Scales the rows, forgets to divide W by the spread as hinted.
# price: 0.5
# truth: W belongs to scaled rows: the division by the spread is missing.
def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    spread = X_train.std(dim=0)
    W = torch.zeros(X_train.shape[1], num_classes)
    W, _ = train_linear_classifier(softmax_loss_vectorized, W, X_train / spread, y_train, 0.5, 1e-4, 300, 200)
    return W


# %% find_random
# taking: Random weights: nothing is trained.
# price: 0.0
# truth: Nothing is trained: W is random.
def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    return 0.01 * torch.randn(X_train.shape[1], num_classes)
