# A hand-in as one meets them: the lecture's loop with its slips.
# expect:
#   questions:
#     make_loader: {status: partial, checks: {reshuffled: wrong_value}}
#     build_net: {status: passed}
#     train_minibatch: {status: partial, checks: {weights: ok, losses: wrong_value, trains_in_train_mode: wrong_value}}
#     predict: {status: failed, checks: {all_rows: wrong_shape}}

import torch


def make_loader(X, y, batch_size, shuffle):
    ds = torch.utils.data.TensorDataset(X, y)
    return torch.utils.data.DataLoader(ds, batch_size=batch_size)  # shuffles anyway?


def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1))


def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    losses = []
    for epoc in range(epochs):
        total = 0
        for xx, yy in loader:
            loss = loss_fn(net(xx.to(device)), yy.to(device))
            loss.backward()
            optimizer.step()
            net.zero_grad()
            total += loss.item()
        losses.append(total / len(loader))
    return losses


def predict(net, X, batch_size):
    for start in range(0, len(X), batch_size):
        yyhat = torch.sigmoid(net(X[start : start + batch_size]))
    return yyhat.data
