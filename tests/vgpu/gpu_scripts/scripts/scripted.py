"""TorchScript: a function with factories, a module moved after scripting."""

import torch
from torch import nn


@torch.jit.script
def cumulative(x, steps: int):
    out = torch.zeros([3], device=x.device)
    for _ in range(steps):
        out = out + x + torch.arange(3, device=x.device)
    return out


device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
net = torch.jit.script(nn.Sequential(nn.Linear(3, 3), nn.ReLU())).to(device)
out = cumulative(torch.ones(3, device=device), 4)
assert out.device.type == device
print("out", *out.tolist(), *net(out).tolist())
