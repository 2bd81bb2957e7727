# The older file is removed before the new one is written.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {model: ok, atomic: missing_file}}

import os

import torch


def save_checkpoint(path, net, optimizer, epoch, loss):
    part = str(path) + ".tmp"
    if os.path.exists(path):
        os.remove(path)
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
