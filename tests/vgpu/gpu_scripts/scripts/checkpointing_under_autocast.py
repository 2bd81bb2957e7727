"""Activation checkpointing inside autocast.

tolerance: 0.01
"""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
block = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Dropout(0.0), nn.Linear(8, 8)).to(device)
x = torch.randn(4, 8).to(device).requires_grad_()
for reentrant in (True, False):
    with torch.autocast(device, dtype=torch.bfloat16):
        out = checkpoint(block, x, use_reentrant=reentrant)
    out.float().square().mean().backward()
    print("gradients", x.grad.abs().sum().item(), block[0].weight.grad.norm().item())
