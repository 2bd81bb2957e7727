"""A network cut in two, a pipeline of splits.

gpus: 2
"""

import torch
from torch import nn

on_gpu = torch.cuda.is_available()
first, second = ("cuda:0", "cuda:1") if on_gpu else ("cpu", "cpu")
torch.manual_seed(0)
lower, upper = nn.Linear(8, 8).to(first), nn.Linear(8, 2).to(second)
x, y = torch.randn(12, 8), torch.randn(12, 2).to(second)
optimizer = torch.optim.SGD([*lower.parameters(), *upper.parameters()], lr=0.1)
for _ in range(3):
    splits = iter(x.split(4))
    previous = lower(next(splits).to(first)).relu().to(second)
    outs = []
    for split in splits:
        outs.append(upper(previous))
        previous = lower(split.to(first)).relu().to(second)
    outs.append(upper(previous))
    loss = nn.functional.mse_loss(torch.cat(outs), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
