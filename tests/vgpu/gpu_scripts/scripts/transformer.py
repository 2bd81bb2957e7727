"""A transformer encoder with a mask, in training and in evaluation."""

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
net = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).to(device)
x, mask = torch.randn(2, 5, 16).to(device), nn.Transformer.generate_square_subsequent_mask(5)
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
for _ in range(2):
    loss = net(x, mask=mask.to(device)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    print("loss", loss.item())
net.eval()
with torch.inference_mode():
    print("eval", net(x, mask=mask.to(device)).abs().mean().item())
