"""A Pool of spawned processes that each compute on a GPU.

gpus: 2
"""

import multiprocessing

import torch


def norm(number):
    device = f"cuda:{number % 2}" if torch.cuda.is_available() else "cpu"
    return torch.full((4,), float(number), device=device).norm().item()


if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print("norms", *pool.map(norm, range(4)))
