# Right ways to write softmax_loss_vectorized. docs/authoring.md explains the cells.

import torch


# %% entropies_by_logarithms
# Logarithms of probabilities, and exp of these.
# expect:
#   questions:
#     "*": {status: passed}

def softmax_loss_vectorized(W, X, y, reg):
    scores = X @ W
    scores = scores - scores.max(1, keepdim=True)[0]
    logarithms = scores - scores.exp().sum(1, keepdim=True).log()
    loss = -logarithms.gather(1, y[:, None]).mean() + reg * torch.sum(W**2)
    slopes = logarithms.exp().scatter_add(1, y[:, None], -torch.ones_like(scores[:, :1]))
    return loss, X.t().mm(slopes).div(len(y)).add(W, alpha=2 * reg)
