"""A captured graph: static tensors, warm-up, replays; a whole training step."""

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).to(device)
loss_of = nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
inputs = [(torch.randn(6, 4), torch.randn(6, 1)) for _ in range(5)]
static_x, static_y = torch.randn(6, 4).to(device), torch.randn(6, 1).to(device)


def step(x, y):
    optimizer.zero_grad(set_to_none=True)
    loss = loss_of(net(x), y)
    loss.backward()
    optimizer.step()
    return loss


if device == "cuda":
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step(static_x, static_y)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        static_loss = loss_of(net(static_x), static_y)
        static_loss.backward()
        optimizer.step()
    for x, y in inputs:
        static_x.copy_(x)
        static_y.copy_(y)
        graph.replay()
        print("loss", static_loss.item())
else:
    for _ in range(3):
        step(static_x, static_y)
    for x, y in inputs:
        print("loss", step(x, y).item())
print("weights", *[parameter.sum().item() for parameter in net.parameters()])
