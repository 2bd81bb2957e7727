"""torch.compile of a function, of a module, as a decorator."""

import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
if not torch.cuda.is_available():
    torch.compile = lambda model=None, **_: model if model is not None else lambda each: each
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)


@torch.compile
def gelu(x):
    return 0.5 * x * (1 + torch.erf(x / 2**0.5))


@torch.compile(mode="reduce-overhead", fullgraph=True)
def square(x):
    return x * x


net = torch.compile(nn.Linear(4, 4).to(device))
optimizer = torch.optim.AdamW(net.parameters(), lr=0.1)
for _ in range(3):
    loss = square(gelu(net(torch.ones(2, 4, device=device)))).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print("loss", loss.item())
