"""nn.DataParallel over two GPUs, with autocast inside forward.

gpus: 2
tolerance: 0.01
"""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x):
        with torch.autocast(x.device.type, dtype=torch.bfloat16):
            return self.layer(x).float()


torch.manual_seed(0)
net = Net()
x = torch.randn(8, 4)
if torch.cuda.is_available():
    net, x = nn.DataParallel(net).cuda(), x.cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
