"""Saving on a GPU and going on elsewhere: map_location, optimiser's state."""

import io

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)


def step(net, optimizer):
    loss = net(torch.ones(2, 3, device=next(net.parameters()).device)).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


net = nn.Linear(3, 3).to(device)
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
print("before", step(net, optimizer), step(net, optimizer))
file = io.BytesIO()
torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, file)
for place in (device, "cpu"):
    file.seek(0)
    saved = torch.load(file, map_location=place, weights_only=True)
    other = nn.Linear(3, 3).to(place)
    other.load_state_dict(saved["net"])
    second = torch.optim.Adam(other.parameters(), lr=0.1)
    second.load_state_dict(saved["optimizer"])
    print("after", step(other, second))
