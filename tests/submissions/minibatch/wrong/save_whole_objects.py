# The net itself, not its state: it can only be loaded by running what is in the file.
# expect:
#   questions:
#     save_checkpoint: {status: failed, checks: {epoch: unreadable_file, loss: unreadable_file, model: unreadable_file, optimizer: unreadable_file, resumes: wrong_type, atomic: requirement_not_met}}

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
