# The same in unusual ways: own samplers, a net by hand, gradients by autograd, sums on tensors.
# expect:
#   questions: {"*": {status: passed}}

import torch


class Order(torch.utils.data.Sampler):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __iter__(self):
        return iter(torch.rand(self.n).argsort().tolist())


class Pairs(torch.utils.data.Dataset):
    def __init__(self, X, y):
        self.X, self.y = X, y

    def __len__(self):
        return len(self.X)

    def __getitem__(self, index):
        return self.X[index], self.y[index]


def make_loader(X, y, batch_size, shuffle):
    """By a sampler of its own."""
    sampler = Order(len(X)) if shuffle else None
    return torch.utils.data.DataLoader(Pairs(X, y), batch_size, sampler=sampler)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.last = torch.nn.Linear(30, 1)
        self.weight = torch.nn.Parameter(torch.randn(30, 784) * 0.03)
        self.bias = torch.nn.Parameter(torch.zeros(30))

    def forward(self, x):
        return self.last((x @ self.weight.T + self.bias).clamp(min=0))


def build_net():
    return Net()


def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    """Sums on the device, gradients by autograd, a look at the loss in between."""
    before = net.training
    net.train()
    for weight in net.parameters():
        weight.data = weight.data.to(device)
    weights = [w for w in net.parameters() if w.requires_grad]
    result = []
    for _ in range(epochs):
        total = torch.zeros((), dtype=torch.float64)
        n = 0
        iterator = iter(loader)
        while True:
            try:
                xx, yy = next(iterator)
            except StopIteration:
                break
            xx, yy = xx.to(device, non_blocking=True), yy.to(device, non_blocking=True)
            loss = loss_fn(net.forward(xx), yy)
            for weight, gradient in zip(weights, torch.autograd.grad(loss, weights)):
                weight.grad = gradient
            optimizer.step()
            n += xx.shape[0]
            total += loss.detach().double().cpu() * xx.shape[0]
        optimizer.zero_grad(set_to_none=True)
        result.append(float(total / n))
        with torch.no_grad():
            net.eval()
            net(xx)
            net.train()
    net.train(before)
    return result


@torch.no_grad()
def predict(net, X, batch_size):
    """Into a tensor made beforehand."""
    before = net.training
    net.train(False)
    loader = torch.utils.data.DataLoader(X, batch_size=batch_size)
    result = None
    place = 0
    for xx in loader:
        part = 1 / (1 + torch.exp(-net(xx)))
        result = part.new_empty((len(X), *part.shape[1:])) if result is None else result
        result[place : place + len(part)] = part
        place += len(part)
    net.train(before)
    return result


def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    def step():
        for group in optimizer.param_groups:
            for weight in group["params"]:
                weight.grad = None
        loss = loss_fn(net(X), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return [step() for _ in range(epochs)]
