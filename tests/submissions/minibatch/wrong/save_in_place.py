# Written straight over the older file.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {model: ok, atomic: unreadable_file}}

import os

import torch


def save_checkpoint(path, net, optimizer, epoch, loss):
    part = str(path) + ""
    torch.save(
        {
            "epoch": epoch,
            "model_state_dict": net.state_dict(),
            "optimizer_state_dict": optimizer.state_dict(),
            "loss": loss,
        },
        part,
    )
    os.replace(part, path)
