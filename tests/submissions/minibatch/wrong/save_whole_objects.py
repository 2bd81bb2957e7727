# The net itself, not its state: it can only be loaded by running what is in the file.
# expect:
#   questions:
#     save_checkpoint: {status: failed, checks: {epoch: requirement_not_met, loss: requirement_not_met, model: unreadable_file, optimizer: unreadable_file, resumes: unreadable_file, atomic: requirement_not_met}}

import os

import torch


def save_checkpoint(path, net, optimizer, epoch, loss):
    part = str(path) + ".tmp"
    torch.save(
        {
            "epoch": epoch,
            "model_state_dict": net,
            "optimizer_state_dict": optimizer.state_dict(),
            "loss": loss,
        },
        part,
    )
    os.replace(part, path)
