# A rounded loss.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {loss: wrong_value, model: ok}}

import os

import torch


def save_checkpoint(path, net, optimizer, epoch, loss):
    part = str(path) + ".tmp"
    torch.save(
        {
            "epoch": epoch,
            "model_state_dict": net.state_dict(),
            "optimizer_state_dict": optimizer.state_dict(),
            "loss": round(loss, 1),
        },
        part,
    )
    os.replace(part, path)
