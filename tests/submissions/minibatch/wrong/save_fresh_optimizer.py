# The state of an optimiser that has not made a step.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {epoch: ok, loss: ok, model: ok, optimizer: wrong_type, resumes: wrong_value, atomic: ok}}

import os

import torch


def save_checkpoint(path, net, optimizer, epoch, loss):
    part = str(path) + ".tmp"
    torch.save(
        {
            "epoch": epoch,
            "model_state_dict": net.state_dict(),
            "optimizer_state_dict": type(optimizer)(net.parameters(), lr=optimizer.param_groups[0]["lr"]).state_dict(),
            "loss": loss,
        },
        part,
    )
    os.replace(part, path)
