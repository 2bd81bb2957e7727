# Wrong ways to write gradient_by_hand. docs/authoring.md explains the cells.

import torch


# %% gradient_autograd
# Lets autograd do it.
# expect:
#   questions:
#     gradient_by_hand: {status: partial, checks: {gradient: ok, float64: ok, by_hand: forbidden_call, no_loops: ok}}

def gradient_by_hand(x, w, y):
    w = w.clone().requires_grad_()
    ((x @ w - y) ** 2).mean().backward()
    return w.grad


# %% gradient_autograd_grad
# Calls torch.autograd.grad.
# expect:
#   questions:
#     gradient_by_hand: {status: partial, checks: {gradient: ok, float64: ok, by_hand: forbidden_call, no_loops: ok}}

def gradient_by_hand(x, w, y):
    w = w.clone().requires_grad_()
    return torch.autograd.grad(((x @ w - y) ** 2).mean(), w)[0]


# %% gradient_float32
# Computes in float32.
# expect:
#   questions:
#     gradient_by_hand: {status: partial, checks: {gradient: ok, float64: wrong_value, by_hand: ok, no_loops: ok}}

def gradient_by_hand(x, w, y):
    x, w, y = x.float(), w.float(), y.float()
    return 2 / y.numel() * (x.t() @ (x @ w - y))


# %% gradient_loop
# Row by row.
# expect:
#   questions:
#     gradient_by_hand: {status: partial, checks: {gradient: ok, float64: ok, by_hand: ok, no_loops: loop_found}}

def gradient_by_hand(x, w, y):
    total = torch.zeros_like(w)
    for i in range(x.shape[0]):
        total += x[i][:, None] * (x[i] @ w - y[i])
    return 2 / y.numel() * total


# %% gradient_of_the_rows
# Divides by the number of rows, not of entries.
# expect:
#   questions:
#     gradient_by_hand: {status: partial, checks: {gradient: wrong_value}}

def gradient_by_hand(x, w, y):
    return 2 * x.t() @ (x @ w - y) / y.shape[0]


# %% gradient_of_the_sum
# The gradient of the sum.
# expect:
#   questions:
#     gradient_by_hand: {status: partial, checks: {gradient: wrong_value}}

def gradient_by_hand(x, w, y):
    return 2 * x.t() @ (x @ w - y)


# %% gradient_torch_func
# Lets torch.func do it.
# expect:
#   questions:
#     gradient_by_hand: {status: partial, checks: {gradient: ok, float64: ok, by_hand: forbidden_call, no_loops: ok}}

def gradient_by_hand(x, w, y):
    return torch.func.grad(lambda w: ((x @ w - y) ** 2).mean())(w)


# %% gradient_without_two
# Forgets the factor 2.
# expect:
#   questions:
#     gradient_by_hand: {status: partial, checks: {gradient: wrong_value}}

def gradient_by_hand(x, w, y):
    return x.t() @ (x @ w - y) / y.numel()


# %% gradient_wrong_sign
# The difference the other way round.
# expect:
#   questions:
#     gradient_by_hand: {status: partial, checks: {gradient: wrong_value}}

def gradient_by_hand(x, w, y):
    return 2 / y.numel() * (x.t() @ (y - x @ w))


# %% gradient_by_jacobian
# A function of torch.autograd that asks for gradients under another name.
# expect:
#   questions:
#     gradient_by_hand: {status: partial, checks: {gradient: ok, by_hand: forbidden_call}, says: "torch.autograd.functional.jacobian"}

def gradient_by_hand(x, w, y):
    return torch.autograd.functional.jacobian(lambda some: ((x @ some - y) ** 2).mean(), w)
