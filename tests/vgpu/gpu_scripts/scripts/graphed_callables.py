"""make_graphed_callables around a module, also in training."""

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
x = torch.randn(3, 4).to(device)
if device == "cuda":
    net = torch.cuda.make_graphed_callables(net, (torch.randn(3, 4, device="cuda"),))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = net(x).square().sum()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
