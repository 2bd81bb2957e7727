# Known mistakes of linear_classifier. docs/authoring.md explains the cells.

import torch


def regularised(loss, grad, W, reg, in_loss=1.0, in_grad=2.0):
    """Return loss and gradient with shares of the regularisation."""
    return loss + in_loss * reg * (W * W).sum(), grad + in_grad * reg * W


def trained(loss_func, W, X, y, learning_rate, reg, num_iters, batch_size):
    """Return what train_linear_classifier is asked for."""
    losses = []
    for _ in range(num_iters):
        loss, grad = loss_func(W, *sample_batch(X, y, batch_size), reg)
        losses.append(float(loss))
        W = W - learning_rate * grad
    return W, losses


# %% hinge_counts_the_right_class
# says: The right class is counted, too: with a margin of 1 it adds 1 to the loss of each row. Leave it out.
# says-ko: 정답 클래스도 셌습니다. 여백이 1이라 행마다 손실에 1을 더합니다. 빼야 합니다.
# right: svm_loss_vectorized

def svm_loss_naive(W, X, y, reg):
    loss, grad = svm_loss_vectorized(W, X, y, reg)
    return loss + 1, grad


# %% hinge_without_the_one
# says: The margin of 1 is missing: a class counts where its score plus 1 is above that of the right class.
# says-ko: 여백 1이 없습니다. 점수에 1을 더한 값이 정답 클래스의 점수보다 크면 셉니다.

def svm_loss_naive(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None])).clamp(min=0)
    counts = (margins > 0).to(X.dtype)
    counts.scatter_(1, y[:, None], -counts.sum(dim=1, keepdim=True))
    return regularised(margins.sum() / len(X), X.T @ counts / len(X), W, reg)


# %% hinge_gradient_forgets_the_right_class
# says: The column of the right class is missing in the gradient: each margin above 0 takes the row off there.
# says-ko: 기울기에 정답 클래스의 열이 빠졌습니다. 0보다 큰 여백마다 그 열에서 행을 빼야 합니다.

def svm_loss_naive(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None]) + 1).clamp(min=0)
    margins.scatter_(1, y[:, None], 0)
    return regularised(margins.sum() / len(X), X.T @ (margins > 0).to(X.dtype) / len(X), W, reg)


# %% hinge_sums_the_gradient
# says: The loss is a mean over the rows, but the gradient is a sum: divide it by N, too.
# says-ko: 손실은 행의 평균인데 기울기는 합입니다. 기울기도 N으로 나누세요.
# right: svm_loss_vectorized

def svm_loss_naive(W, X, y, reg):
    loss, grad = svm_loss_vectorized(W, X, y, 0.0)
    return regularised(loss, grad * len(X), W, reg)


# %% hinge_gradient_without_the_two
# says: The gradient has reg * W for the regularisation; the derivative of the squares is 2 * reg * W.
# says-ko: 기울기의 정규화 항이 reg * W입니다. 제곱의 미분은 2 * reg * W입니다.
# right: svm_loss_vectorized

def svm_loss_naive(W, X, y, reg):
    return regularised(*svm_loss_vectorized(W, X, y, 0.0), W, reg, in_grad=1.0)


# %% hinge_half_the_regularisation
# says: The loss has half of the regularisation: reg times the sum of the squares is asked for.
# says-ko: 손실의 정규화 항이 절반입니다. reg에 제곱의 합을 곱한 값이어야 합니다.
# right: svm_loss_vectorized

def svm_loss_naive(W, X, y, reg):
    return regularised(*svm_loss_vectorized(W, X, y, 0.0), W, reg, in_loss=0.5)


# %% hinge_without_regularisation
# says: The loss lacks the regularisation, reg times the sum of the squared weights.
# says-ko: 손실에 정규화 항, 곧 reg 곱하기 가중치 제곱의 합이 없습니다.
# right: svm_loss_vectorized

def svm_loss_naive(W, X, y, reg):
    return regularised(*svm_loss_vectorized(W, X, y, 0.0), W, reg, in_loss=0.0)


# %% hinges_count_the_right_class
# says: The right class is counted, too: with a margin of 1 it adds 1 to the loss of each row. Leave it out.
# says-ko: 정답 클래스도 셌습니다. 여백이 1이라 행마다 손실에 1을 더합니다. 빼야 합니다.

def svm_loss_vectorized(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None]) + 1).clamp(min=0)
    counts = (margins > 0).to(X.dtype)
    counts.scatter_(1, y[:, None], -counts.sum(dim=1, keepdim=True))
    return regularised(margins.sum() / len(X), X.T @ counts / len(X), W, reg)


# %% hinges_take_one_from_the_right
# says: The row is taken off the right class once; it is taken off once for each margin above 0.
# says-ko: 정답 클래스에서 행을 한 번만 뺐습니다. 0보다 큰 여백마다 한 번씩 빼야 합니다.

def svm_loss_vectorized(W, X, y, reg):
    scores = X @ W
    margins = (scores - scores.gather(1, y[:, None]) + 1).clamp(min=0)
    margins.scatter_(1, y[:, None], 0)
    counts = (margins > 0).to(X.dtype).scatter(1, y[:, None], -1.0)
    return regularised(margins.sum() / len(X), X.T @ counts / len(X), W, reg)


# %% hinges_without_regularisation
# says: The loss lacks the regularisation, reg times the sum of the squared weights.
# says-ko: 손실에 정규화 항, 곧 reg 곱하기 가중치 제곱의 합이 없습니다.
# right: svm_loss_naive

def svm_loss_vectorized(W, X, y, reg):
    return regularised(*svm_loss_naive(W, X, y, 0.0), W, reg, in_loss=0.0)


# %% hinges_gradient_without_the_two
# says: The gradient has reg * W for the regularisation; the derivative of the squares is 2 * reg * W.
# says-ko: 기울기의 정규화 항이 reg * W입니다. 제곱의 미분은 2 * reg * W입니다.
# right: svm_loss_naive

def svm_loss_vectorized(W, X, y, reg):
    return regularised(*svm_loss_naive(W, X, y, 0.0), W, reg, in_grad=1.0)


# %% hinges_sum_the_loss
# says: The loss is a sum over the rows; their mean is asked for.
# says-ko: 손실이 행의 합입니다. 평균이어야 합니다.
# right: svm_loss_naive

def svm_loss_vectorized(W, X, y, reg):
    loss, grad = svm_loss_naive(W, X, y, 0.0)
    return regularised(loss * len(X), grad, W, reg)


# %% entropy_sum_the_loss
# says: The loss is a sum over the rows; their mean is asked for.
# says-ko: 손실이 행의 합입니다. 평균이어야 합니다.
# right: softmax_loss_vectorized

def softmax_loss_naive(W, X, y, reg):
    loss, grad = softmax_loss_vectorized(W, X, y, 0.0)
    return regularised(loss * len(X), grad, W, reg)


# %% entropy_gradient_of_probabilities
# says: The gradient is made of the probabilities alone; take 1 off that of the right class.
# says-ko: 기울기가 확률만으로 되어 있습니다. 정답 클래스의 확률에서 1을 빼야 합니다.
# right: softmax_loss_vectorized

def softmax_loss_naive(W, X, y, reg):
    loss, _ = softmax_loss_vectorized(W, X, y, reg)
    return loss, X.T @ (X @ W).softmax(dim=1) / len(X) + 2 * reg * W


# %% entropy_without_regularisation
# says: The loss lacks the regularisation, reg times the sum of the squared weights.
# says-ko: 손실에 정규화 항, 곧 reg 곱하기 가중치 제곱의 합이 없습니다.
# right: softmax_loss_vectorized

def softmax_loss_naive(W, X, y, reg):
    return regularised(*softmax_loss_vectorized(W, X, y, 0.0), W, reg, in_loss=0.0)


# %% entropy_gradient_without_regularisation
# says: The gradient lacks the regularisation, 2 * reg * W.
# says-ko: 기울기에 정규화 항 2 * reg * W가 없습니다.
# right: softmax_loss_vectorized

def softmax_loss_naive(W, X, y, reg):
    return regularised(*softmax_loss_vectorized(W, X, y, 0.0), W, reg, in_grad=0.0)


# %% entropies_sum_the_loss
# says: The loss is a sum over the rows; their mean is asked for.
# says-ko: 손실이 행의 합입니다. 평균이어야 합니다.
# right: softmax_loss_naive

def softmax_loss_vectorized(W, X, y, reg):
    loss, grad = softmax_loss_naive(W, X, y, 0.0)
    return regularised(loss * len(X), grad, W, reg)


# %% entropies_gradient_of_probabilities
# says: The gradient is made of the probabilities alone; take 1 off that of the right class.
# says-ko: 기울기가 확률만으로 되어 있습니다. 정답 클래스의 확률에서 1을 빼야 합니다.
# right: softmax_loss_naive

def softmax_loss_vectorized(W, X, y, reg):
    loss, _ = softmax_loss_naive(W, X, y, reg)
    return loss, X.T @ (X @ W).softmax(dim=1) / len(X) + 2 * reg * W


# %% entropies_without_regularisation
# says: The loss lacks the regularisation, reg times the sum of the squared weights.
# says-ko: 손실에 정규화 항, 곧 reg 곱하기 가중치 제곱의 합이 없습니다.
# right: softmax_loss_naive

def softmax_loss_vectorized(W, X, y, reg):
    return regularised(*softmax_loss_naive(W, X, y, 0.0), W, reg, in_loss=0.0)


# %% entropies_gradient_without_regularisation
# says: The gradient lacks the regularisation, 2 * reg * W.
# says-ko: 기울기에 정규화 항 2 * reg * W가 없습니다.
# right: softmax_loss_naive

def softmax_loss_vectorized(W, X, y, reg):
    return regularised(*softmax_loss_naive(W, X, y, 0.0), W, reg, in_grad=0.0)


# %% train_uphill
# says: The steps go along the gradient, uphill: subtract it.
# says-ko: 기울기 방향으로 올라갑니다. 빼야 합니다.
# right: sample_batch

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    return trained(loss_func, W, X, y, -learning_rate, reg, num_iters, batch_size)


# %% train_without_regularisation
# says: The training goes as with reg = 0: hand reg on to loss_func.
# says-ko: reg가 0일 때처럼 훈련합니다. reg를 loss_func에 넘기세요.
# right: sample_batch

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    return trained(loss_func, W, X, y, learning_rate, 0.0, num_iters, batch_size)


# %% train_one_step_less
# says: There is one step less than num_iters.
# says-ko: num_iters보다 한 걸음 적습니다.
# right: sample_batch

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    return trained(loss_func, W, X, y, learning_rate, reg, num_iters - 1, batch_size)


# %% predict_the_lowest
# says: This is the class with the lowest score; the highest is asked for.
# says-ko: 점수가 가장 낮은 클래스입니다. 가장 높은 클래스여야 합니다.

def predict_linear_classifier(W, X):
    return (-(X @ W)).argmax(dim=1)


# %% predict_the_score
# says: These are the highest scores themselves; the classes that have them are asked for.
# says-ko: 가장 높은 점수 자체입니다. 그 점수의 클래스여야 합니다.

def predict_linear_classifier(W, X):
    return (X @ W).max(dim=1).values


# %% predict_in_floats
# says: The labels are right, but in a floating dtype; int64 is asked for.
# says-ko: 레이블은 맞지만 실수 dtype입니다. int64여야 합니다.

def predict_linear_classifier(W, X):
    return (X @ W).max(dim=1).indices.float()
