# The lecture's own loop: zero_grad after the step, and by the net; a sigmoid outside of it.
# expect:
#   questions: {"*": {status: passed}}

import torch


def make_loader(X, y, batch_size, shuffle):
    ds = torch.utils.data.TensorDataset(X, y)
    return torch.utils.data.DataLoader(ds, batch_size=batch_size, shuffle=shuffle)


def build_net():
    return torch.nn.Sequential(
        torch.nn.Linear(in_features=784, out_features=30),
        torch.nn.ReLU(),
        torch.nn.Linear(in_features=30, out_features=1),
        # torch.nn.Sigmoid()
    )


def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    mode = net.training
    net.to(device).train()
    history = []
    for epoc in range(epochs):
        seen = []
        for xx, yy in loader:
            yyhat = net(xx.to(device))
            loss = loss_fn(yyhat, yy.to(device))
            loss.backward()
            optimizer.step()
            net.zero_grad()
            seen += [loss.item()] * len(xx)
        history.append(sum(seen) / len(seen))
    net.train(mode)
    return history


def predict(net, X, batch_size):
    mode = net.training
    net.eval()
    f = torch.nn.Sigmoid()
    with torch.inference_mode():
        yhat = torch.cat([f(net(xx)) for xx in torch.split(X, batch_size)])
    net.train(mode)
    return yhat.clone()


def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    history = []
    for epoc in range(epochs):
        yhat = net(X)
        loss = loss_fn(yhat, y)
        loss.backward()
        optimizer.step()
        net.zero_grad()
        history += [loss.item()]
    return history
