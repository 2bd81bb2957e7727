# Right ways to write find_classifier. docs/authoring.md explains the cells.

import torch


# %% find_by_least_squares
# No training at all: least squares for one column a class.
# expect:
#   questions:
#     "*": {status: passed}

def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    wanted = torch.nn.functional.one_hot(y_train, num_classes).double()
    return torch.linalg.lstsq(X_train.double(), wanted - 1 / num_classes).solution.float()


# %% find_with_momentum
# Its own training takes one more argument.
# right: softmax_loss_naive, softmax_loss_vectorized, sample_batch
# expect:
#   questions:
#     "*": {status: passed}

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200, momentum=0.0
):
    losses, speed = [], torch.zeros_like(W)
    for _ in range(num_iters):
        loss, grad = loss_func(W, *sample_batch(X, y, batch_size), reg)
        losses.append(float(loss))
        speed = momentum * speed + grad
        W = W - learning_rate * speed
    return W, losses


def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    spread = X_train.std(dim=0)
    W = torch.zeros(X_train.shape[1], num_classes)
    W, _ = train_linear_classifier(
        softmax_loss_vectorized, W, X_train / spread, y_train, 0.1, 1e-4, 400, momentum=0.9
    )
    return W / spread[:, None]


# %% find_by_a_loop_of_its_own
# A loop of its own: losses and batches are called here, by name.
# right: svm_loss_naive, svm_loss_vectorized, sample_batch, predict_linear_classifier
# expect:
#   questions:
#     "*": {status: passed}

def find_classifier(X_train, y_train, X_val, y_val, num_classes):
    spread, best = X_train.std(dim=0), (-1.0, None)
    for rate in (0.05, 0.5):
        W = torch.zeros(X_train.shape[1], num_classes)
        for step in range(400):
            rows, labels = sample_batch(X=X_train / spread, y=y_train, batch_size=200)
            loss, grad = svm_loss_vectorized(W=W, X=rows, y=labels, reg=1e-5)
            W -= rate / (1 + step / 100) * grad
        found = W / spread[:, None]
        right = (predict_linear_classifier(W=found, X=X_val) == y_val).float().mean().item()
        best = max(best, (right, found), key=lambda pair: pair[0])
    return best[1]
