# Items with other names.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {epoch: requirement_not_met, loss: requirement_not_met, model: wrong_type, optimizer: ok, resumes: wrong_type, atomic: requirement_not_met}}

import os

import torch


def save_checkpoint(path, net, optimizer, epoch, loss):
    part = str(path) + ".tmp"
    torch.save(
        {
            "epoch": epoch,
            "model": net.state_dict(),
            "optimizer_state_dict": optimizer.state_dict(),
            "loss": loss,
        },
        part,
    )
    os.replace(part, path)
