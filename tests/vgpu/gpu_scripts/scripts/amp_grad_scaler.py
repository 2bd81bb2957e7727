"""Mixed precision: autocast and GradScaler, a convolutional network.

tolerance: 0.01
"""

import torch
import torch.nn.functional as F
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 10)
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scaler = torch.amp.GradScaler(device)
images, labels = torch.randn(8, 1, 8, 8), torch.arange(8)
for _ in range(4):
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        out = model(images.to(device))
        loss = F.cross_entropy(out, labels.to(device))
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    print("loss", loss.item(), out.dtype, loss.dtype)
