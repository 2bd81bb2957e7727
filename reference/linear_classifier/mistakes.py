# Known mistakes of linear_classifier. docs/authoring.md explains the cells.

import torch


def regularised(loss, grad, W, reg, in_loss=1.0, in_grad=2.0):
    """Return loss and gradient with shares of the regularisation."""
    return loss + in_loss * reg * (W * W).sum(), grad + in_grad * reg * W


def trained(  # noqa: PLR0913
    loss_func, W, X, y, learning_rate, reg, num_iters, batch_size, fixed=False, whole=False, extra=0.0
):
    """Return what train_linear_classifier is asked for, or something near it."""
    losses, batch = [], (X, y)
    for step in range(num_iters):
        if not whole and not (fixed and step):
            batch = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, *batch, reg)
        losses.append(float(loss))
        W = W - learning_rate * (grad + extra * W)
    return W, losses


# %% hinge_counts_the_right_class
# says: The right class is counted, too: with a margin of 1 it adds 1 to the loss of each row. Leave it out.
# says-ko: 정답 클래스도 셌습니다. 여백이 1이라 행마다 손실에 1을 더합니다. 빼야 합니다.
# earns: 0.7
# right: svm_loss_vectorized

def svm_loss_naive(W, X, y, reg):
    loss, grad = svm_loss_vectorized(W, X, y, reg)
    return loss + 1, grad


# %% hinge_without_the_one
# says: The margin of 1 is missing: a class counts where its score plus 1 is above that of the right class.
# says-ko: 여백 1이 없습니다. 점수에 1을 더한 값이 정답 클래스의 점수보다 크면 셉니다.
# earns: 0.6

def svm_loss_naive(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None])).clamp(min=0)
    counts = (margins > 0).to(X.dtype)
    counts.scatter_(1, y[:, None], -counts.sum(dim=1, keepdim=True))
    return regularised(margins.sum() / len(X), X.T @ counts / len(X), W, reg)


# %% hinge_gradient_forgets_the_right_class
# says: The column of the right class is missing in the gradient: each margin above 0 takes the row off there.
# says-ko: 기울기에 정답 클래스의 열이 빠졌습니다. 0보다 큰 여백마다 그 열에서 행을 빼야 합니다.
# earns: 0.5

def svm_loss_naive(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None]) + 1).clamp(min=0)
    margins.scatter_(1, y[:, None], 0)
    return regularised(margins.sum() / len(X), X.T @ (margins > 0).to(X.dtype) / len(X), W, reg)


# %% hinge_sums_the_gradient
# says: The loss is a mean over the rows, but the gradient is a sum: divide it by N, too.
# says-ko: 손실은 행의 평균인데 기울기는 합입니다. 기울기도 N으로 나누세요.
# earns: 0.7
# right: svm_loss_vectorized

def svm_loss_naive(W, X, y, reg):
    loss, grad = svm_loss_vectorized(W, X, y, 0.0)
    return regularised(loss, grad * len(X), W, reg)


# %% hinge_gradient_without_the_two
# says: The gradient has reg * W for the regularisation; the derivative of the squares is 2 * reg * W.
# says-ko: 기울기의 정규화 항이 reg * W입니다. 제곱의 미분은 2 * reg * W입니다.
# earns: 0.5
# right: svm_loss_vectorized

def svm_loss_naive(W, X, y, reg):
    return regularised(*svm_loss_vectorized(W, X, y, 0.0), W, reg, in_grad=1.0)


# %% hinge_half_the_regularisation
# says: The loss has half of the regularisation: reg times the sum of the squares is asked for.
# says-ko: 손실의 정규화 항이 절반입니다. reg에 제곱의 합을 곱한 값이어야 합니다.
# earns: 0.5
# right: svm_loss_vectorized

def svm_loss_naive(W, X, y, reg):
    return regularised(*svm_loss_vectorized(W, X, y, 0.0), W, reg, in_loss=0.5)


# %% hinge_without_regularisation
# says: The loss lacks the regularisation, reg times the sum of the squared weights.
# says-ko: 손실에 정규화 항, 곧 reg 곱하기 가중치 제곱의 합이 없습니다.
# earns: 0.25
# right: svm_loss_vectorized

def svm_loss_naive(W, X, y, reg):
    return regularised(*svm_loss_vectorized(W, X, y, 0.0), W, reg, in_loss=0.0)


# %% hinges_count_the_right_class
# says: The right class is counted, too: with a margin of 1 it adds 1 to the loss of each row. Leave it out.
# says-ko: 정답 클래스도 셌습니다. 여백이 1이라 행마다 손실에 1을 더합니다. 빼야 합니다.
# earns: 0.7

def svm_loss_vectorized(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None]) + 1).clamp(min=0)
    counts = (margins > 0).to(X.dtype)
    counts.scatter_(1, y[:, None], -counts.sum(dim=1, keepdim=True))
    return regularised(margins.sum() / len(X), X.T @ counts / len(X), W, reg)


# %% hinges_take_one_from_the_right
# says: The row is taken off the right class once; it is taken off once for each margin above 0.
# says-ko: 정답 클래스에서 행을 한 번만 뺐습니다. 0보다 큰 여백마다 한 번씩 빼야 합니다.
# earns: 0.5

def svm_loss_vectorized(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None]) + 1).clamp(min=0)
    margins.scatter_(1, y[:, None], 0)
    counts = (margins > 0).to(X.dtype).scatter(1, y[:, None], -1.0)
    return regularised(margins.sum() / len(X), X.T @ counts / len(X), W, reg)


# %% hinges_without_regularisation
# says: The loss lacks the regularisation, reg times the sum of the squared weights.
# says-ko: 손실에 정규화 항, 곧 reg 곱하기 가중치 제곱의 합이 없습니다.
# earns: 0.25
# right: svm_loss_naive

def svm_loss_vectorized(W, X, y, reg):
    return regularised(*svm_loss_naive(W, X, y, 0.0), W, reg, in_loss=0.0)


# %% hinges_gradient_without_the_two
# says: The gradient has reg * W for the regularisation; the derivative of the squares is 2 * reg * W.
# says-ko: 기울기의 정규화 항이 reg * W입니다. 제곱의 미분은 2 * reg * W입니다.
# earns: 0.5
# right: svm_loss_naive

def svm_loss_vectorized(W, X, y, reg):
    return regularised(*svm_loss_naive(W, X, y, 0.0), W, reg, in_grad=1.0)


# %% hinges_sum_the_loss
# says: The loss is a sum over the rows; their mean is asked for.
# says-ko: 손실이 행의 합입니다. 평균이어야 합니다.
# earns: 0.7
# right: svm_loss_naive

def svm_loss_vectorized(W, X, y, reg):
    loss, grad = svm_loss_naive(W, X, y, 0.0)
    return regularised(loss * len(X), grad, W, reg)


# %% entropy_sum_the_loss
# says: The loss is a sum over the rows; their mean is asked for.
# says-ko: 손실이 행의 합입니다. 평균이어야 합니다.
# earns: 0.7
# right: softmax_loss_vectorized

def softmax_loss_naive(W, X, y, reg):
    loss, grad = softmax_loss_vectorized(W, X, y, 0.0)
    return regularised(loss * len(X), grad, W, reg)


# %% entropy_gradient_of_probabilities
# says: The gradient is made of the probabilities alone; take 1 off that of the right class.
# says-ko: 기울기가 확률만으로 되어 있습니다. 정답 클래스의 확률에서 1을 빼야 합니다.
# earns: 0.5
# right: softmax_loss_vectorized

def softmax_loss_naive(W, X, y, reg):
    loss, _ = softmax_loss_vectorized(W, X, y, reg)
    return loss, X.T @ (X @ W).softmax(dim=1) / len(X) + 2 * reg * W


# %% entropy_without_regularisation
# says: The loss lacks the regularisation, reg times the sum of the squared weights.
# says-ko: 손실에 정규화 항, 곧 reg 곱하기 가중치 제곱의 합이 없습니다.
# earns: 0.25
# right: softmax_loss_vectorized

def softmax_loss_naive(W, X, y, reg):
    return regularised(*softmax_loss_vectorized(W, X, y, 0.0), W, reg, in_loss=0.0)


# %% entropy_gradient_without_regularisation
# says: The gradient lacks the regularisation, 2 * reg * W.
# says-ko: 기울기에 정규화 항 2 * reg * W가 없습니다.
# earns: 0.25
# right: softmax_loss_vectorized

def softmax_loss_naive(W, X, y, reg):
    return regularised(*softmax_loss_vectorized(W, X, y, 0.0), W, reg, in_grad=0.0)


# %% entropies_sum_the_loss
# says: The loss is a sum over the rows; their mean is asked for.
# says-ko: 손실이 행의 합입니다. 평균이어야 합니다.
# earns: 0.7
# right: softmax_loss_naive

def softmax_loss_vectorized(W, X, y, reg):
    loss, grad = softmax_loss_naive(W, X, y, 0.0)
    return regularised(loss * len(X), grad, W, reg)


# %% entropies_gradient_of_probabilities
# says: The gradient is made of the probabilities alone; take 1 off that of the right class.
# says-ko: 기울기가 확률만으로 되어 있습니다. 정답 클래스의 확률에서 1을 빼야 합니다.
# earns: 0.5
# right: softmax_loss_naive

def softmax_loss_vectorized(W, X, y, reg):
    loss, _ = softmax_loss_naive(W, X, y, reg)
    return loss, X.T @ (X @ W).softmax(dim=1) / len(X) + 2 * reg * W


# %% entropies_without_regularisation
# says: The loss lacks the regularisation, reg times the sum of the squared weights.
# says-ko: 손실에 정규화 항, 곧 reg 곱하기 가중치 제곱의 합이 없습니다.
# earns: 0.25
# right: softmax_loss_naive

def softmax_loss_vectorized(W, X, y, reg):
    return regularised(*softmax_loss_naive(W, X, y, 0.0), W, reg, in_loss=0.0)


# %% entropies_gradient_without_regularisation
# says: The gradient lacks the regularisation, 2 * reg * W.
# says-ko: 기울기에 정규화 항 2 * reg * W가 없습니다.
# earns: 0.25
# right: softmax_loss_naive

def softmax_loss_vectorized(W, X, y, reg):
    return regularised(*softmax_loss_naive(W, X, y, 0.0), W, reg, in_grad=0.0)


# %% train_uphill
# says: The steps go along the gradient, uphill: subtract it.
# says-ko: 기울기 방향으로 올라갑니다. 빼야 합니다.
# earns: 0.6
# right: sample_batch

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    return trained(loss_func, W, X, y, -learning_rate, reg, num_iters, batch_size)


# %% train_without_regularisation
# says: The training goes as with reg = 0: hand reg on to loss_func.
# says-ko: reg가 0일 때처럼 학습합니다. reg를 loss_func에 넘기세요.
# earns: 0.6
# right: sample_batch

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    return trained(loss_func, W, X, y, learning_rate, 0.0, num_iters, batch_size)


# %% train_one_step_less
# says: There is one step less than num_iters.
# says-ko: num_iters보다 한 단계 적습니다.
# earns: 0.7
# right: sample_batch

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    return trained(loss_func, W, X, y, learning_rate, reg, num_iters - 1, batch_size)


# %% predict_the_lowest
# says: This is the class with the lowest score; the highest is asked for.
# says-ko: 점수가 가장 낮은 클래스입니다. 가장 높은 클래스여야 합니다.
# earns: 0.4

def predict_linear_classifier(W, X):
    return (-(X @ W)).argmax(dim=1)


# %% predict_the_score
# says: These are the highest scores themselves; the classes that have them are asked for.
# says-ko: 가장 높은 점수 자체입니다. 그 점수의 클래스여야 합니다.
# earns: 0.5

def predict_linear_classifier(W, X):
    return (X @ W).max(dim=1).values


# %% predict_in_floats
# says: The labels are right, but in a floating dtype; int64 is asked for.
# says-ko: 레이블은 맞지만 실수 dtype입니다. int64여야 합니다.
# earns: 0

def predict_linear_classifier(W, X):
    return (X @ W).max(dim=1).indices.float()

# %% hinge_sums_the_loss
# says: The loss is a sum over the rows; their mean is asked for.
# says-ko: 손실이 행에 대한 합입니다. 평균이어야 합니다.
# right: svm_loss_vectorized
# earns: 0.7

def svm_loss_naive(W, X, y, reg):
    loss, grad = svm_loss_vectorized(W, X, y, 0.0)
    return regularised(loss * len(X), grad, W, reg)


# %% hinge_sums_both
# says: Loss and gradient are sums over the rows; divide both by N.
# says-ko: 손실과 기울기가 행에 대한 합입니다. 둘 다 N으로 나누세요.
# right: svm_loss_vectorized
# earns: 0.7

def svm_loss_naive(W, X, y, reg):
    loss, grad = svm_loss_vectorized(W, X, y, 0.0)
    return regularised(loss * len(X), grad * len(X), W, reg)


# %% hinge_divides_the_regularisation
# says: The regularisation is divided by N, too; add it after the division.
# says-ko: 정규화 항까지 N으로 나누었습니다. 나눈 다음에 더하세요.
# right: svm_loss_vectorized
# earns: 0.5

def svm_loss_naive(W, X, y, reg):
    return regularised(*svm_loss_vectorized(W, X, y, 0.0), W, reg / len(X))


# %% hinge_ignores_reg
# says: Neither the loss nor the gradient has the regularisation.
# says-ko: 손실에도 기울기에도 정규화 항이 없습니다.
# right: svm_loss_vectorized
# earns: 0

def svm_loss_naive(W, X, y, reg):
    return svm_loss_vectorized(W, X, y, 0.0)


# %% hinge_gradient_without_regularisation
# says: The gradient lacks the regularisation, 2 * reg * W.
# says-ko: 기울기에 정규화 항 2 * reg * W가 없습니다.
# right: svm_loss_vectorized
# earns: 0

def svm_loss_naive(W, X, y, reg):
    return regularised(*svm_loss_vectorized(W, X, y, 0.0), W, reg, in_grad=0.0)


# %% hinge_halves_both_regularisations
# says: Loss and gradient have half of the regularisation: reg times the sum of the squares, and 2 * reg * W, are asked for.
# says-ko: 손실과 기울기의 정규화 항이 절반입니다. reg 곱하기 제곱의 합과 2 * reg * W여야 합니다.
# right: svm_loss_vectorized
# earns: 0.6

def svm_loss_naive(W, X, y, reg):
    return regularised(*svm_loss_vectorized(W, X, y, 0.0), W, reg, in_loss=0.5, in_grad=1.0)


# %% hinge_gradient_the_other_way
# says: The gradient of the rows has the wrong sign.
# says-ko: 행의 기울기의 부호가 반대입니다.
# right: svm_loss_vectorized
# earns: 0.6

def svm_loss_naive(W, X, y, reg):
    loss, grad = svm_loss_vectorized(W, X, y, 0.0)
    return regularised(loss, -grad, W, reg)


# %% hinge_gradient_transposed
# says: The gradient is transposed: it has the shape of W, (D, C).
# says-ko: 기울기가 전치되었습니다. W와 같은 shape (D, C)여야 합니다.
# right: svm_loss_vectorized
# earns: 0.7

def svm_loss_naive(W, X, y, reg):
    loss, grad = svm_loss_vectorized(W, X, y, reg)
    return loss, grad.T


# %% hinge_returns_the_loss_alone
# says: The loss comes back alone; return the pair of loss and gradient.
# says-ko: 손실만 반환했습니다. 손실과 기울기의 쌍을 반환하세요.
# right: svm_loss_vectorized
# earns: 0.4

def svm_loss_naive(W, X, y, reg):
    return svm_loss_vectorized(W, X, y, reg)[0]


# %% hinge_means_over_classes
# says: Loss and gradient are divided by N and by C; the mean over the N rows alone is asked for.
# says-ko: 손실과 기울기를 N과 C로 나누었습니다. 행 N개에 대한 평균이어야 합니다.
# right: svm_loss_vectorized
# earns: 0.6

def svm_loss_naive(W, X, y, reg):
    loss, grad = svm_loss_vectorized(W, X, y, 0.0)
    return regularised(loss / W.shape[1], grad / W.shape[1], W, reg)


# %% hinge_gradient_lost
# says: The gradient has nothing but the regularisation; the share of the rows is missing.
# says-ko: 기울기에 정규화 항만 있고 행의 몫이 없습니다.
# right: svm_loss_vectorized
# earns: 0.2

def svm_loss_naive(W, X, y, reg):
    loss, grad = svm_loss_vectorized(W, X, y, 0.0)
    return regularised(loss, torch.zeros_like(grad), W, reg)


# %% hinge_squares_the_margins
# says: The margins are squared; add them up as they are.
# says-ko: 여백을 제곱했습니다. 그대로 더하세요.
# earns: 0.6

def svm_loss_naive(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None]) + 1).clamp(min=0).scatter(1, y[:, None], 0)
    slopes = 2 * margins
    slopes.scatter_(1, y[:, None], -slopes.sum(dim=1, keepdim=True))
    return regularised(margins.square().sum() / len(X), X.T @ slopes / len(X), W, reg)


# %% hinge_keeps_margins_below_0
# says: Margins below 0 are added, too; they count as 0: clamp(min=0).
# says-ko: 0보다 작은 여백도 더했습니다. 0으로 세야 합니다: clamp(min=0).
# earns: 0.5

def svm_loss_naive(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None]) + 1).scatter(1, y[:, None], 0)
    slopes = torch.ones_like(margins).scatter(1, y[:, None], 1.0 - W.shape[1])
    return regularised(margins.sum() / len(X), X.T @ slopes / len(X), W, reg)


# %% hinge_takes_the_largest_margin
# says: Only the largest margin of each row counts; the sum over all other classes is asked for.
# says-ko: 행마다 가장 큰 여백만 셌습니다. 나머지 모든 클래스에 대한 합이어야 합니다.
# earns: 0.5

def svm_loss_naive(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None]) + 1).clamp(min=0).scatter(1, y[:, None], 0)
    largest = margins.max(dim=1, keepdim=True)
    counts = torch.zeros_like(margins).scatter(1, largest.indices, (largest.values > 0).to(X.dtype))
    counts = counts.scatter_add(1, y[:, None], -counts.sum(dim=1, keepdim=True))
    return regularised(largest.values.sum() / len(X), X.T @ counts / len(X), W, reg)


# %% hinge_takes_one_from_the_right
# says: The row is taken off the right class once; it is taken off once for each margin above 0.
# says-ko: 정답 클래스에서 행을 한 번만 뺐습니다. 0보다 큰 여백마다 한 번씩 빼세요.
# earns: 0.6

def svm_loss_naive(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None]) + 1).clamp(min=0).scatter(1, y[:, None], 0)
    counts = (margins > 0).to(X.dtype).scatter(1, y[:, None], -1.0)
    return regularised(margins.sum() / len(X), X.T @ counts / len(X), W, reg)


# %% hinges_sum_the_gradient
# says: The loss is a mean over the rows, but the gradient is a sum: divide it by N, too.
# says-ko: 손실은 행에 대한 평균이지만 기울기는 합입니다. 기울기도 N으로 나누세요.
# right: svm_loss_naive
# earns: 0.7

def svm_loss_vectorized(W, X, y, reg):
    loss, grad = svm_loss_naive(W, X, y, 0.0)
    return regularised(loss, grad * len(X), W, reg)


# %% hinges_sum_both
# says: Loss and gradient are sums over the rows; divide both by N.
# says-ko: 손실과 기울기가 행에 대한 합입니다. 둘 다 N으로 나누세요.
# right: svm_loss_naive
# earns: 0.7

def svm_loss_vectorized(W, X, y, reg):
    loss, grad = svm_loss_naive(W, X, y, 0.0)
    return regularised(loss * len(X), grad * len(X), W, reg)


# %% hinges_divide_the_regularisation
# says: The regularisation is divided by N, too; add it after the division.
# says-ko: 정규화 항까지 N으로 나누었습니다. 나눈 다음에 더하세요.
# right: svm_loss_naive
# earns: 0.5

def svm_loss_vectorized(W, X, y, reg):
    return regularised(*svm_loss_naive(W, X, y, 0.0), W, reg / len(X))


# %% hinges_ignore_reg
# says: Neither the loss nor the gradient has the regularisation.
# says-ko: 손실에도 기울기에도 정규화 항이 없습니다.
# right: svm_loss_naive
# earns: 0

def svm_loss_vectorized(W, X, y, reg):
    return svm_loss_naive(W, X, y, 0.0)


# %% hinges_gradient_without_regularisation
# says: The gradient lacks the regularisation, 2 * reg * W.
# says-ko: 기울기에 정규화 항 2 * reg * W가 없습니다.
# right: svm_loss_naive
# earns: 0

def svm_loss_vectorized(W, X, y, reg):
    return regularised(*svm_loss_naive(W, X, y, 0.0), W, reg, in_grad=0.0)


# %% hinges_halve_the_regularisation
# says: The loss has half of the regularisation: reg times the sum of the squares is asked for.
# says-ko: 손실의 정규화 항이 절반입니다. reg 곱하기 제곱의 합이어야 합니다.
# right: svm_loss_naive
# earns: 0.6

def svm_loss_vectorized(W, X, y, reg):
    return regularised(*svm_loss_naive(W, X, y, 0.0), W, reg, in_loss=0.5)


# %% hinges_halve_both_regularisations
# says: Loss and gradient have half of the regularisation: reg times the sum of the squares, and 2 * reg * W, are asked for.
# says-ko: 손실과 기울기의 정규화 항이 절반입니다. reg 곱하기 제곱의 합과 2 * reg * W여야 합니다.
# right: svm_loss_naive
# earns: 0.6

def svm_loss_vectorized(W, X, y, reg):
    return regularised(*svm_loss_naive(W, X, y, 0.0), W, reg, in_loss=0.5, in_grad=1.0)


# %% hinges_gradient_the_other_way
# says: The gradient of the rows has the wrong sign.
# says-ko: 행의 기울기의 부호가 반대입니다.
# right: svm_loss_naive
# earns: 0.6

def svm_loss_vectorized(W, X, y, reg):
    loss, grad = svm_loss_naive(W, X, y, 0.0)
    return regularised(loss, -grad, W, reg)


# %% hinges_gradient_transposed
# says: The gradient is transposed: it has the shape of W, (D, C).
# says-ko: 기울기가 전치되었습니다. W와 같은 shape (D, C)여야 합니다.
# right: svm_loss_naive
# earns: 0.7

def svm_loss_vectorized(W, X, y, reg):
    loss, grad = svm_loss_naive(W, X, y, reg)
    return loss, grad.T


# %% hinges_return_the_loss_alone
# says: The loss comes back alone; return the pair of loss and gradient.
# says-ko: 손실만 반환했습니다. 손실과 기울기의 쌍을 반환하세요.
# right: svm_loss_naive
# earns: 0.4

def svm_loss_vectorized(W, X, y, reg):
    return svm_loss_naive(W, X, y, reg)[0]


# %% hinges_means_over_classes
# says: Loss and gradient are divided by N and by C; the mean over the N rows alone is asked for.
# says-ko: 손실과 기울기를 N과 C로 나누었습니다. 행 N개에 대한 평균이어야 합니다.
# right: svm_loss_naive
# earns: 0.6

def svm_loss_vectorized(W, X, y, reg):
    loss, grad = svm_loss_naive(W, X, y, 0.0)
    return regularised(loss / W.shape[1], grad / W.shape[1], W, reg)


# %% hinges_gradient_lost
# says: The gradient has nothing but the regularisation; the share of the rows is missing.
# says-ko: 기울기에 정규화 항만 있고 행의 몫이 없습니다.
# right: svm_loss_naive
# earns: 0.2

def svm_loss_vectorized(W, X, y, reg):
    loss, grad = svm_loss_naive(W, X, y, 0.0)
    return regularised(loss, torch.zeros_like(grad), W, reg)


# %% hinges_square_the_margins
# says: The margins are squared; add them up as they are.
# says-ko: 여백을 제곱했습니다. 그대로 더하세요.
# earns: 0.6

def svm_loss_vectorized(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None]) + 1).clamp(min=0).scatter(1, y[:, None], 0)
    slopes = 2 * margins
    slopes.scatter_(1, y[:, None], -slopes.sum(dim=1, keepdim=True))
    return regularised(margins.square().sum() / len(X), X.T @ slopes / len(X), W, reg)


# %% hinges_keep_margins_below_0
# says: Margins below 0 are added, too; they count as 0: clamp(min=0).
# says-ko: 0보다 작은 여백도 더했습니다. 0으로 세야 합니다: clamp(min=0).
# earns: 0.5

def svm_loss_vectorized(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None]) + 1).scatter(1, y[:, None], 0)
    slopes = torch.ones_like(margins).scatter(1, y[:, None], 1.0 - W.shape[1])
    return regularised(margins.sum() / len(X), X.T @ slopes / len(X), W, reg)


# %% hinges_take_the_largest_margin
# says: Only the largest margin of each row counts; the sum over all other classes is asked for.
# says-ko: 행마다 가장 큰 여백만 셌습니다. 나머지 모든 클래스에 대한 합이어야 합니다.
# earns: 0.5

def svm_loss_vectorized(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None]) + 1).clamp(min=0).scatter(1, y[:, None], 0)
    largest = margins.max(dim=1, keepdim=True)
    counts = torch.zeros_like(margins).scatter(1, largest.indices, (largest.values > 0).to(X.dtype))
    counts = counts.scatter_add(1, y[:, None], -counts.sum(dim=1, keepdim=True))
    return regularised(largest.values.sum() / len(X), X.T @ counts / len(X), W, reg)


# %% hinges_without_the_one
# says: The margin of 1 is missing: a class counts where its score plus 1 is above that of the right class.
# says-ko: 여백 1이 없습니다. 점수에 1을 더한 값이 정답 클래스의 점수보다 크면 셉니다.
# earns: 0.6

def svm_loss_vectorized(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None])).clamp(min=0)
    counts = (margins > 0).to(X.dtype)
    counts.scatter_(1, y[:, None], -counts.sum(dim=1, keepdim=True))
    return regularised(margins.sum() / len(X), X.T @ counts / len(X), W, reg)


# %% hinges_gradient_forgets_the_right_class
# says: The column of the right class is missing in the gradient: each margin above 0 takes the row off there.
# says-ko: 기울기에 정답 클래스의 열이 없습니다. 0보다 큰 여백마다 그 열에서 행을 빼세요.
# earns: 0.6

def svm_loss_vectorized(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None]) + 1).clamp(min=0).scatter(1, y[:, None], 0)
    return regularised(margins.sum() / len(X), X.T @ (margins > 0).to(X.dtype) / len(X), W, reg)


# %% hinges_weigh_rows_by_margins
# says: The gradient weighs each row by its margin; a margin above 0 counts once, however large it is.
# says-ko: 기울기가 행에 여백의 크기를 곱했습니다. 0보다 큰 여백은 크기와 상관없이 한 번 셉니다.
# earns: 0.6

def svm_loss_vectorized(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None]) + 1).clamp(min=0).scatter(1, y[:, None], 0)
    slopes = margins.scatter(1, y[:, None], -margins.sum(dim=1, keepdim=True))
    return regularised(margins.sum() / len(X), X.T @ slopes / len(X), W, reg)


# %% entropy_sums_the_gradient
# says: The loss is a mean over the rows, but the gradient is a sum: divide it by N, too.
# says-ko: 손실은 행에 대한 평균이지만 기울기는 합입니다. 기울기도 N으로 나누세요.
# right: softmax_loss_vectorized
# earns: 0.7

def softmax_loss_naive(W, X, y, reg):
    loss, grad = softmax_loss_vectorized(W, X, y, 0.0)
    return regularised(loss, grad * len(X), W, reg)


# %% entropy_sums_both
# says: Loss and gradient are sums over the rows; divide both by N.
# says-ko: 손실과 기울기가 행에 대한 합입니다. 둘 다 N으로 나누세요.
# right: softmax_loss_vectorized
# earns: 0.7

def softmax_loss_naive(W, X, y, reg):
    loss, grad = softmax_loss_vectorized(W, X, y, 0.0)
    return regularised(loss * len(X), grad * len(X), W, reg)


# %% entropy_divides_the_regularisation
# says: The regularisation is divided by N, too; add it after the division.
# says-ko: 정규화 항까지 N으로 나누었습니다. 나눈 다음에 더하세요.
# right: softmax_loss_vectorized
# earns: 0.5

def softmax_loss_naive(W, X, y, reg):
    return regularised(*softmax_loss_vectorized(W, X, y, 0.0), W, reg / len(X))


# %% entropy_ignores_reg
# says: Neither the loss nor the gradient has the regularisation.
# says-ko: 손실에도 기울기에도 정규화 항이 없습니다.
# right: softmax_loss_vectorized
# earns: 0

def softmax_loss_naive(W, X, y, reg):
    return softmax_loss_vectorized(W, X, y, 0.0)


# %% entropy_gradient_without_the_two
# says: The gradient has reg * W for the regularisation; the derivative of the squares is 2 * reg * W.
# says-ko: 정규화의 기울기가 reg * W입니다. 제곱의 도함수는 2 * reg * W입니다.
# right: softmax_loss_vectorized
# earns: 0.6

def softmax_loss_naive(W, X, y, reg):
    return regularised(*softmax_loss_vectorized(W, X, y, 0.0), W, reg, in_grad=1.0)


# %% entropy_halves_the_regularisation
# says: The loss has half of the regularisation: reg times the sum of the squares is asked for.
# says-ko: 손실의 정규화 항이 절반입니다. reg 곱하기 제곱의 합이어야 합니다.
# right: softmax_loss_vectorized
# earns: 0.6

def softmax_loss_naive(W, X, y, reg):
    return regularised(*softmax_loss_vectorized(W, X, y, 0.0), W, reg, in_loss=0.5)


# %% entropy_halves_both_regularisations
# says: Loss and gradient have half of the regularisation: reg times the sum of the squares, and 2 * reg * W, are asked for.
# says-ko: 손실과 기울기의 정규화 항이 절반입니다. reg 곱하기 제곱의 합과 2 * reg * W여야 합니다.
# right: softmax_loss_vectorized
# earns: 0.6

def softmax_loss_naive(W, X, y, reg):
    return regularised(*softmax_loss_vectorized(W, X, y, 0.0), W, reg, in_loss=0.5, in_grad=1.0)


# %% entropy_gradient_the_other_way
# says: The gradient of the rows has the wrong sign.
# says-ko: 행의 기울기의 부호가 반대입니다.
# right: softmax_loss_vectorized
# earns: 0.6

def softmax_loss_naive(W, X, y, reg):
    loss, grad = softmax_loss_vectorized(W, X, y, 0.0)
    return regularised(loss, -grad, W, reg)


# %% entropy_gradient_transposed
# says: The gradient is transposed: it has the shape of W, (D, C).
# says-ko: 기울기가 전치되었습니다. W와 같은 shape (D, C)여야 합니다.
# right: softmax_loss_vectorized
# earns: 0.7

def softmax_loss_naive(W, X, y, reg):
    loss, grad = softmax_loss_vectorized(W, X, y, reg)
    return loss, grad.T


# %% entropy_returns_the_loss_alone
# says: The loss comes back alone; return the pair of loss and gradient.
# says-ko: 손실만 반환했습니다. 손실과 기울기의 쌍을 반환하세요.
# right: softmax_loss_vectorized
# earns: 0.4

def softmax_loss_naive(W, X, y, reg):
    return softmax_loss_vectorized(W, X, y, reg)[0]


# %% entropy_means_over_classes
# says: Loss and gradient are divided by N and by C; the mean over the N rows alone is asked for.
# says-ko: 손실과 기울기를 N과 C로 나누었습니다. 행 N개에 대한 평균이어야 합니다.
# right: softmax_loss_vectorized
# earns: 0.6

def softmax_loss_naive(W, X, y, reg):
    loss, grad = softmax_loss_vectorized(W, X, y, 0.0)
    return regularised(loss / W.shape[1], grad / W.shape[1], W, reg)


# %% entropy_gradient_lost
# says: The gradient has nothing but the regularisation; the share of the rows is missing.
# says-ko: 기울기에 정규화 항만 있고 행의 몫이 없습니다.
# right: softmax_loss_vectorized
# earns: 0.2

def softmax_loss_naive(W, X, y, reg):
    loss, grad = softmax_loss_vectorized(W, X, y, 0.0)
    return regularised(loss, torch.zeros_like(grad), W, reg)


# %% entropy_overflows
# says: Large scores overflow in exp: take the largest of each row off its scores first.
# says-ko: 큰 점수가 exp에서 넘칩니다. 먼저 행마다 가장 큰 점수를 빼세요.
# earns: 0

def softmax_loss_naive(W, X, y, reg):
    powers = (X @ W).exp()
    shares = powers / powers.sum(dim=1, keepdim=True)
    right = torch.nn.functional.one_hot(y, W.shape[1]).to(X.dtype)
    loss = -(shares * right).sum(dim=1).log().mean()
    return regularised(loss, X.T @ (shares - right) / len(X), W, reg)


# %% entropy_without_the_minus
# says: The loss has the wrong sign: it is minus the logarithm.
# says-ko: 손실의 부호가 반대입니다. 로그에 음의 부호를 붙이세요.
# right: softmax_loss_vectorized
# earns: 0.7

def softmax_loss_naive(W, X, y, reg):
    loss, grad = softmax_loss_vectorized(W, X, y, 0.0)
    return regularised(-loss, grad, W, reg)


# %% entropy_log_of_ten
# says: The logarithm is that of base 10; the natural one, torch.log, is asked for.
# says-ko: 밑이 10인 로그입니다. 자연로그 torch.log여야 합니다.
# right: softmax_loss_vectorized
# earns: 0.7

def softmax_loss_naive(W, X, y, reg):
    loss, grad = softmax_loss_vectorized(W, X, y, 0.0)
    return regularised(loss / torch.log(loss.new_tensor(10.0)), grad, W, reg)


# %% entropy_without_the_log
# says: The loss is made of the probabilities themselves; take the logarithm of each row first.
# says-ko: 확률 자체로 손실을 구했습니다. 먼저 행마다 로그를 구하세요.
# right: softmax_loss_vectorized
# earns: 0.5

def softmax_loss_naive(W, X, y, reg):
    _, grad = softmax_loss_vectorized(W, X, y, 0.0)
    rows = torch.arange(len(X))
    return regularised(-(X @ W).softmax(dim=1)[rows, y].mean(), grad, W, reg)


# %% entropy_log_of_the_mean
# says: This is the logarithm of the mean probability; the mean of the logarithms is asked for.
# says-ko: 확률의 평균의 로그입니다. 로그의 평균이어야 합니다.
# right: softmax_loss_vectorized
# earns: 0.6

def softmax_loss_naive(W, X, y, reg):
    _, grad = softmax_loss_vectorized(W, X, y, 0.0)
    rows = torch.arange(len(X))
    return regularised(-(X @ W).softmax(dim=1)[rows, y].mean().log(), grad, W, reg)


# %% entropy_softmax_over_the_rows
# says: The probabilities of each class add up to 1 over the rows; those of each row are to: sum along dim=1.
# says-ko: 확률의 합이 클래스마다 1입니다. 행마다 1이어야 하므로 dim=1로 더하세요.
# earns: 0.4

def softmax_loss_naive(W, X, y, reg):
    shares = (X @ W).softmax(dim=0)
    right = torch.nn.functional.one_hot(y, W.shape[1]).to(X.dtype)
    loss = -(shares * right).sum(dim=1).log().mean()
    return regularised(loss, X.T @ (shares - right) / len(X), W, reg)


# %% entropies_sum_the_gradient
# says: The loss is a mean over the rows, but the gradient is a sum: divide it by N, too.
# says-ko: 손실은 행에 대한 평균이지만 기울기는 합입니다. 기울기도 N으로 나누세요.
# right: softmax_loss_naive
# earns: 0.7

def softmax_loss_vectorized(W, X, y, reg):
    loss, grad = softmax_loss_naive(W, X, y, 0.0)
    return regularised(loss, grad * len(X), W, reg)


# %% entropies_sum_both
# says: Loss and gradient are sums over the rows; divide both by N.
# says-ko: 손실과 기울기가 행에 대한 합입니다. 둘 다 N으로 나누세요.
# right: softmax_loss_naive
# earns: 0.7

def softmax_loss_vectorized(W, X, y, reg):
    loss, grad = softmax_loss_naive(W, X, y, 0.0)
    return regularised(loss * len(X), grad * len(X), W, reg)


# %% entropies_divide_the_regularisation
# says: The regularisation is divided by N, too; add it after the division.
# says-ko: 정규화 항까지 N으로 나누었습니다. 나눈 다음에 더하세요.
# right: softmax_loss_naive
# earns: 0.5

def softmax_loss_vectorized(W, X, y, reg):
    return regularised(*softmax_loss_naive(W, X, y, 0.0), W, reg / len(X))


# %% entropies_ignore_reg
# says: Neither the loss nor the gradient has the regularisation.
# says-ko: 손실에도 기울기에도 정규화 항이 없습니다.
# right: softmax_loss_naive
# earns: 0

def softmax_loss_vectorized(W, X, y, reg):
    return softmax_loss_naive(W, X, y, 0.0)


# %% entropies_gradient_without_the_two
# says: The gradient has reg * W for the regularisation; the derivative of the squares is 2 * reg * W.
# says-ko: 정규화의 기울기가 reg * W입니다. 제곱의 도함수는 2 * reg * W입니다.
# right: softmax_loss_naive
# earns: 0.6

def softmax_loss_vectorized(W, X, y, reg):
    return regularised(*softmax_loss_naive(W, X, y, 0.0), W, reg, in_grad=1.0)


# %% entropies_halve_the_regularisation
# says: The loss has half of the regularisation: reg times the sum of the squares is asked for.
# says-ko: 손실의 정규화 항이 절반입니다. reg 곱하기 제곱의 합이어야 합니다.
# right: softmax_loss_naive
# earns: 0.6

def softmax_loss_vectorized(W, X, y, reg):
    return regularised(*softmax_loss_naive(W, X, y, 0.0), W, reg, in_loss=0.5)


# %% entropies_halve_both_regularisations
# says: Loss and gradient have half of the regularisation: reg times the sum of the squares, and 2 * reg * W, are asked for.
# says-ko: 손실과 기울기의 정규화 항이 절반입니다. reg 곱하기 제곱의 합과 2 * reg * W여야 합니다.
# right: softmax_loss_naive
# earns: 0.6

def softmax_loss_vectorized(W, X, y, reg):
    return regularised(*softmax_loss_naive(W, X, y, 0.0), W, reg, in_loss=0.5, in_grad=1.0)


# %% entropies_gradient_the_other_way
# says: The gradient of the rows has the wrong sign.
# says-ko: 행의 기울기의 부호가 반대입니다.
# right: softmax_loss_naive
# earns: 0.6

def softmax_loss_vectorized(W, X, y, reg):
    loss, grad = softmax_loss_naive(W, X, y, 0.0)
    return regularised(loss, -grad, W, reg)


# %% entropies_gradient_transposed
# says: The gradient is transposed: it has the shape of W, (D, C).
# says-ko: 기울기가 전치되었습니다. W와 같은 shape (D, C)여야 합니다.
# right: softmax_loss_naive
# earns: 0.7

def softmax_loss_vectorized(W, X, y, reg):
    loss, grad = softmax_loss_naive(W, X, y, reg)
    return loss, grad.T


# %% entropies_return_the_loss_alone
# says: The loss comes back alone; return the pair of loss and gradient.
# says-ko: 손실만 반환했습니다. 손실과 기울기의 쌍을 반환하세요.
# right: softmax_loss_naive
# earns: 0.4

def softmax_loss_vectorized(W, X, y, reg):
    return softmax_loss_naive(W, X, y, reg)[0]


# %% entropies_means_over_classes
# says: Loss and gradient are divided by N and by C; the mean over the N rows alone is asked for.
# says-ko: 손실과 기울기를 N과 C로 나누었습니다. 행 N개에 대한 평균이어야 합니다.
# right: softmax_loss_naive
# earns: 0.6

def softmax_loss_vectorized(W, X, y, reg):
    loss, grad = softmax_loss_naive(W, X, y, 0.0)
    return regularised(loss / W.shape[1], grad / W.shape[1], W, reg)


# %% entropies_gradient_lost
# says: The gradient has nothing but the regularisation; the share of the rows is missing.
# says-ko: 기울기에 정규화 항만 있고 행의 몫이 없습니다.
# right: softmax_loss_naive
# earns: 0.2

def softmax_loss_vectorized(W, X, y, reg):
    loss, grad = softmax_loss_naive(W, X, y, 0.0)
    return regularised(loss, torch.zeros_like(grad), W, reg)


# %% entropies_overflow
# says: Large scores overflow in exp: take the largest of each row off its scores first.
# says-ko: 큰 점수가 exp에서 넘칩니다. 먼저 행마다 가장 큰 점수를 빼세요.
# earns: 0

def softmax_loss_vectorized(W, X, y, reg):
    powers = (X @ W).exp()
    shares = powers / powers.sum(dim=1, keepdim=True)
    right = torch.nn.functional.one_hot(y, W.shape[1]).to(X.dtype)
    loss = -(shares * right).sum(dim=1).log().mean()
    return regularised(loss, X.T @ (shares - right) / len(X), W, reg)


# %% entropies_without_the_minus
# says: The loss has the wrong sign: it is minus the logarithm.
# says-ko: 손실의 부호가 반대입니다. 로그에 음의 부호를 붙이세요.
# right: softmax_loss_naive
# earns: 0.7

def softmax_loss_vectorized(W, X, y, reg):
    loss, grad = softmax_loss_naive(W, X, y, 0.0)
    return regularised(-loss, grad, W, reg)


# %% entropies_log_of_ten
# says: The logarithm is that of base 10; the natural one, torch.log, is asked for.
# says-ko: 밑이 10인 로그입니다. 자연로그 torch.log여야 합니다.
# right: softmax_loss_naive
# earns: 0.7

def softmax_loss_vectorized(W, X, y, reg):
    loss, grad = softmax_loss_naive(W, X, y, 0.0)
    return regularised(loss / torch.log(loss.new_tensor(10.0)), grad, W, reg)


# %% entropies_without_the_log
# says: The loss is made of the probabilities themselves; take the logarithm of each row first.
# says-ko: 확률 자체로 손실을 구했습니다. 먼저 행마다 로그를 구하세요.
# right: softmax_loss_naive
# earns: 0.5

def softmax_loss_vectorized(W, X, y, reg):
    _, grad = softmax_loss_naive(W, X, y, 0.0)
    rows = torch.arange(len(X))
    return regularised(-(X @ W).softmax(dim=1)[rows, y].mean(), grad, W, reg)


# %% entropies_log_of_the_mean
# says: This is the logarithm of the mean probability; the mean of the logarithms is asked for.
# says-ko: 확률의 평균의 로그입니다. 로그의 평균이어야 합니다.
# right: softmax_loss_naive
# earns: 0.6

def softmax_loss_vectorized(W, X, y, reg):
    _, grad = softmax_loss_naive(W, X, y, 0.0)
    rows = torch.arange(len(X))
    return regularised(-(X @ W).softmax(dim=1)[rows, y].mean().log(), grad, W, reg)


# %% entropies_softmax_over_the_rows
# says: The probabilities of each class add up to 1 over the rows; those of each row are to: sum along dim=1.
# says-ko: 확률의 합이 클래스마다 1입니다. 행마다 1이어야 하므로 dim=1로 더하세요.
# earns: 0.4

def softmax_loss_vectorized(W, X, y, reg):
    shares = (X @ W).softmax(dim=0)
    right = torch.nn.functional.one_hot(y, W.shape[1]).to(X.dtype)
    loss = -(shares * right).sum(dim=1).log().mean()
    return regularised(loss, X.T @ (shares - right) / len(X), W, reg)


# %% train_one_step_more
# says: There is one step more than num_iters.
# says-ko: num_iters보다 한 단계 더 했습니다.
# right: sample_batch
# earns: 0.7

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    return trained(loss_func, W, X, y, learning_rate, reg, num_iters + 1, batch_size)


# %% train_without_the_rate
# says: The steps are as long as the gradient: multiply it by learning_rate.
# says-ko: 기울기만큼 움직였습니다. learning_rate를 곱하세요.
# right: sample_batch
# earns: 0.6

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    return trained(loss_func, W, X, y, 1.0, reg, num_iters, batch_size)


# %% train_on_one_batch
# says: One batch is drawn for all steps; draw a new one in each step.
# says-ko: 배치 하나로 모든 단계를 했습니다. 단계마다 새로 뽑으세요.
# right: sample_batch
# earns: 0.6

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    return trained(loss_func, W, X, y, learning_rate, reg, num_iters, batch_size, fixed=True)


# %% train_on_all_rows
# says: Each step uses all rows; draw a batch by sample_batch.
# says-ko: 단계마다 모든 행을 썼습니다. sample_batch로 배치를 뽑으세요.
# right: sample_batch
# earns: 0.5

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    return trained(loss_func, W, X, y, learning_rate, reg, num_iters, batch_size, whole=True)


# %% train_no_weight_changes
# says: No weight has changed: the matrix that comes back is the one that came.
# says-ko: 가중치가 변하지 않았습니다. 받은 행렬이 그대로 돌아왔습니다.
# right: sample_batch
# earns: 0

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    return trained(loss_func, W, X, y, 0.0, reg, num_iters, batch_size)


# %% train_returns_the_first_weights
# says: The losses are those of the training, but the matrix that comes back is the one that came: return the trained one.
# says-ko: 손실은 학습의 것이지만 받은 행렬을 그대로 반환했습니다. 학습한 행렬을 반환하세요.
# right: sample_batch

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    return W, trained(loss_func, W, X, y, learning_rate, reg, num_iters, batch_size)[1]


# %% train_divides_by_the_batch
# says: The gradient is divided by the size of the batch; loss_func has done that already.
# says-ko: 기울기를 배치의 크기로 나누었습니다. loss_func가 이미 나누었습니다.
# right: sample_batch
# earns: 0.7

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    return trained(loss_func, W, X, y, learning_rate / batch_size, reg, num_iters, batch_size)


# %% train_regularises_again
# says: The regularisation is added to the gradient; loss_func has done that already.
# says-ko: 기울기에 정규화 항을 더했습니다. loss_func가 이미 더했습니다.
# right: sample_batch
# earns: 0.7

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    return trained(loss_func, W, X, y, learning_rate, reg, num_iters, batch_size, extra=2 * reg)


# %% train_batches_of_200
# says: Each batch has 200 rows, whatever batch_size says.
# says-ko: batch_size와 상관없이 배치가 200행입니다.
# right: sample_batch
# earns: 0.7

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    return trained(loss_func, W, X, y, learning_rate, reg, num_iters, 200)


# %% train_a_hundred_steps
# says: There are 100 steps, whatever num_iters says.
# says-ko: num_iters와 상관없이 100단계를 했습니다.
# right: sample_batch
# earns: 0.7

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    return trained(loss_func, W, X, y, learning_rate, reg, 100, batch_size)


# %% train_adds_up_the_losses
# says: Each loss is the sum of all losses so far; that of its own step is asked for.
# says-ko: 손실이 그때까지의 합입니다. 그 단계의 손실이어야 합니다.
# right: sample_batch
# earns: 0.5

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    W, losses = trained(loss_func, W, X, y, learning_rate, reg, num_iters, batch_size)
    return W, torch.tensor(losses, dtype=torch.float64).cumsum(0).tolist()


# %% predict_over_the_rows
# says: This is the best row for each class; the best class for each row is asked for: dim=1.
# says-ko: 클래스마다 점수가 가장 높은 행입니다. 행마다 가장 높은 클래스여야 합니다: dim=1.
# earns: 0.5

def predict_linear_classifier(W, X):
    return (X @ W).argmax(dim=0)


# %% predict_all_scores
# says: These are the scores of all classes; the class with the highest is asked for.
# says-ko: 모든 클래스의 점수입니다. 점수가 가장 높은 클래스여야 합니다.
# earns: 0.4

def predict_linear_classifier(W, X):
    return X @ W


# %% predict_probabilities
# says: These are probabilities; the class with the highest is asked for.
# says-ko: 확률입니다. 확률이 가장 높은 클래스여야 합니다.
# earns: 0.4

def predict_linear_classifier(W, X):
    return (X @ W).softmax(dim=1)


# %% predict_values_and_indices
# says: max(dim=1) returns values and indices, and both came back: take .indices.
# says-ko: max(dim=1)은 values와 indices를 반환하는데 둘 다 반환했습니다. .indices를 쓰세요.
# earns: 0.6

def predict_linear_classifier(W, X):
    return (X @ W).max(dim=1)


# %% predict_from_1
# says: The classes are counted from 1; they begin at 0.
# says-ko: 클래스를 1부터 셌습니다. 0부터입니다.
# earns: 0.6

def predict_linear_classifier(W, X):
    return (X @ W).argmax(dim=1) + 1


# %% predict_a_column
# says: The classes stand in a column, of shape (N, 1); shape (N,) is asked for.
# says-ko: 클래스가 shape (N, 1)인 열에 있습니다. shape은 (N,)이어야 합니다.
# earns: 0.7

def predict_linear_classifier(W, X):
    return (X @ W).argmax(dim=1, keepdim=True)


# %% predict_a_list
# says: The classes come in a list; a tensor is asked for.
# says-ko: 클래스가 목록으로 돌아왔습니다. 텐서여야 합니다.
# earns: 0.7

def predict_linear_classifier(W, X):
    return (X @ W).argmax(dim=1).tolist()


# %% predict_one_hot
# says: This has a 1 in the column of each class; the class itself is asked for.
# says-ko: 클래스의 열에 1이 있습니다. 클래스 자체여야 합니다.
# earns: 0.5

def predict_linear_classifier(W, X):
    return torch.nn.functional.one_hot((X @ W).argmax(dim=1), W.shape[1])
