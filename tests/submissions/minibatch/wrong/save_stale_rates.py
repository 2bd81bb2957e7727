# The optimiser's moments are saved as zeros.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {model: ok, optimizer: wrong_value, resumes: wrong_value}}

import os

import torch


def save_checkpoint(path, net, optimizer, epoch, loss):
    part = str(path) + ".tmp"
    torch.save(
        {
            "epoch": epoch,
            "model_state_dict": net.state_dict(),
            "optimizer_state_dict": {
                **optimizer.state_dict(),
                "state": {
                    k: {n: torch.zeros_like(t) for n, t in s.items()}
                    for k, s in optimizer.state_dict()["state"].items()
                },
            },
            "loss": loss,
        },
        part,
    )
    os.replace(part, path)
