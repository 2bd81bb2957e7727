"""A DataLoader with workers and pinned memory, copies that do not block."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(64, 5), torch.randint(0, 3, (64,)))
    loader = DataLoader(data, batch_size=16, num_workers=2, pin_memory=device.type == "cuda")
    model = nn.Linear(5, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for epoch in range(2):
        total = 0.0
        for x, y in loader:
            assert x.is_pinned() or device.type == "cpu"
            x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print("epoch", epoch, total)


if __name__ == "__main__":
    main()
