"""DistributedDataParallel by mp.spawn, names imported from torch.distributed at the top.

gpus: 2
"""

import tempfile

import torch
import torch.multiprocessing as mp
from torch import nn
from torch.distributed import all_reduce, destroy_process_group, init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def train(rank, world_size, meeting):
    on_gpu = torch.cuda.is_available()
    if on_gpu:
        torch.cuda.set_device(rank)
    backend = "nccl" if on_gpu else "gloo"
    init_process_group(backend, init_method=meeting, rank=rank, world_size=world_size)
    device = torch.device("cuda", rank) if on_gpu else torch.device("cpu")
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(32, 4), torch.randn(32, 1))
    sampler = DistributedSampler(data, shuffle=True, seed=1)
    loader = DataLoader(data, batch_size=8, sampler=sampler, pin_memory=on_gpu)
    model = DDP(nn.Linear(4, 1).to(device), device_ids=[rank] if on_gpu else None)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
        total = loss.detach().clone()
        all_reduce(total)
        if rank == 0:
            print("epoch", epoch, total.item() / world_size)
    if rank == 0:
        print("weight", *model.module.weight.flatten().tolist())
    destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(2, f"file://{folder}/meeting"), nprocs=2)
