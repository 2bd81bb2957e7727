"""Lazy modules, moved before they know their shapes."""

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
net = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2)).to(
    device
)
x = torch.randn(3, 1, 6, 6).to(device)
net(x)
for parameter in net.parameters():
    assert parameter.device.type == device
    nn.init.constant_(parameter, 0.1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(x).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
