# Another epoch than the one that was said.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {epoch: wrong_value, model: ok, atomic: wrong_value}}

import os

import torch


def save_checkpoint(path, net, optimizer, epoch, loss):
    part = str(path) + ".tmp"
    torch.save(
        {
            "epoch": epoch - 1,
            "model_state_dict": net.state_dict(),
            "optimizer_state_dict": optimizer.state_dict(),
            "loss": loss,
        },
        part,
    )
    os.replace(part, path)
