# Right ways to write svm_loss_vectorized. docs/authoring.md explains the cells.

import torch


# %% hinges_by_gather
# gather, a one-hot mask, relu and einsum.
# expect:
#   questions:
#     "*": {status: passed}

def svm_loss_vectorized(W, X, y, reg):
    scores = X.matmul(W)
    margins = torch.relu(scores - scores.gather(1, y.view(-1, 1)) + 1)
    right = torch.nn.functional.one_hot(y, W.shape[1]).bool()
    margins = torch.where(right, 0, margins)
    counts = torch.sign(margins)
    counts = counts - right * counts.sum(dim=1, keepdim=True)
    grad = torch.einsum("nd,nc->dc", X, counts) / X.shape[0]
    return margins.sum(dim=1).mean() + reg * W.square().sum(), grad + reg * 2.0 * W


# %% counts_scores_by_sizes
# Counts the entries of the scores in a loop over their sizes.
# expect:
#   questions:
#     "*": {status: passed}

def svm_loss_vectorized(W, X, y, reg):
    scores = X.mm(W)
    n = 1
    for size in scores.shape:
        n *= size
    rows = torch.arange(0, n, scores.shape[1])
    right = scores.reshape(n)[rows + y][:, None]
    margins = (scores - right + 1).clamp(min=0)
    margins = margins.reshape(n).index_fill(0, rows + y, 0).reshape(scores.shape)
    counts = (margins > 0).to(W.dtype)
    counts[torch.arange(len(X)), y] = -counts.sum(dim=1)
    return margins.sum() / len(X) + reg * (W * W).sum(), X.t().mm(counts) / len(X) + 2 * reg * W
