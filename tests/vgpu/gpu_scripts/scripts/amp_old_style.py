"""torch.cuda.amp of older tutorials: a decorated forward, half precision.

tolerance: 0.01
"""

import warnings

import torch
from torch import nn

warnings.simplefilter("ignore", FutureWarning)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
scaler = torch.cuda.amp.GradScaler(enabled=device.type == "cuda")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 1))

    @torch.cuda.amp.autocast(enabled=device.type == "cuda")
    def forward(self, x):
        return self.layers(x)


net = Net().to(device)
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
x, y = torch.randn(12, 6), torch.randn(12, 1)
for _ in range(5):
    loss = nn.functional.mse_loss(net(x.to(device)).float(), y.to(device))
    optimizer.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print("loss", loss.item())
