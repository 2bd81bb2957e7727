"""A model that several processes share, Hogwild's way."""

import torch
import torch.multiprocessing as mp
from torch import nn


def add_one(model):
    with torch.no_grad():
        model.weight += 1


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    mp.set_start_method("spawn")
    model = nn.Linear(2, 2)
    nn.init.zeros_(model.weight)
    model = model.to(device)
    model.share_memory()
    for _ in range(2):
        process = mp.Process(target=add_one, args=(model,))
        process.start()
        process.join()
        assert process.exitcode == 0
    print("weight", *model.weight.detach().cpu().flatten().tolist())
