"""What the customer's documents do."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from gpu.programs.base import linear, numbers, program


@program("The documents' own programs", devices=2)
def toy_model() -> Any:
    class ToyModel(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net1 = nn.Linear(10, 10).to("cuda:0")
            self.relu = nn.ReLU()
            self.net2 = nn.Linear(10, 5).to("cuda:1")

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.relu(self.net1(x.to("cuda:0")))
            return self.net2(x.to("cuda:1"))

    model = ToyModel()
    before = model.net1.weight.detach().clone()
    loss_fn = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    optimizer.zero_grad()
    outputs = model(torch.randn(20, 10))
    labels = torch.randn(20, 5).to("cuda:1")
    loss_fn(outputs, labels).backward()
    optimizer.step()
    places = {name: (str(p.device), str(p.grad.device)) for name, p in model.named_parameters()}
    return outputs.device, places, torch.equal(before, model.net1.weight)


@program("The documents' own programs")
def product_on_the_gpu() -> Any:
    x, w = numbers(), numbers().t()
    x_gpu, w_gpu = x.cuda(), w.cuda()
    y = x_gpu.mm(w_gpu).cpu()
    torch.cuda.synchronize()
    return y, y.device == torch.device("cpu")


@program("The documents' own programs")
def first_steps() -> Any:
    x = torch.ones(1) * -1.5
    device = torch.device("cuda")
    y = torch.ones_like(x, device=device)
    z = x.to(device) + y
    batch, labels = numbers().to(device), numbers().to(device).type(torch.cuda.FloatTensor)
    return repr(z), z.to("cpu", torch.double), batch, labels


@program("The documents' own programs")
def random_labels() -> Any:
    indices = torch.LongTensor(4).random_(0, 3).view(4, 1)
    labels = torch.zeros(4, 3).scatter_(1, indices, 1).to("cuda:0")
    return labels.sum(), labels.device


@program("The documents' own programs")
def digits_in_minibatches() -> Any:
    torch.manual_seed(1)
    x = torch.linspace(0, 1, 60).reshape(20, 3)
    y = (x.sum(1, keepdim=True) > 1.5).float()
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=8)
    net = nn.Sequential(linear(), nn.ReLU(), nn.Linear(2, 1, bias=False))
    nn.init.constant_(net[2].weight, 0.5)
    net.to("cuda:0")
    loss_fn = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(2):
        for xx, yy in loader:
            loss = loss_fn(net(xx.to("cuda:0")), yy.to("cuda:0"))
            loss.backward()
            optimizer.step()
            net.zero_grad()
    return net(x.to("cuda:0")).data, loss, net[0].weight


@program("The documents' own programs")
def plotted_without_coming_home() -> Any:
    return np.asarray(linear("cuda")(numbers().cuda()).data)


@program("The documents' own programs")
def conversions() -> Any:
    x0 = torch.tensor([[1, 2], [3, 4]], dtype=torch.float32)
    x1, x2 = x0.to("cuda"), x0.cuda()
    y = torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=torch.float64, device="cuda")
    return x1, x1.to("cpu"), x2.cpu(), x0.to(y), x0.device == torch.device("cpu")
