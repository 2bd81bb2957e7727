# The optimiser's state is forgotten.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {epoch: ok, loss: ok, model: ok, optimizer: wrong_type, resumes: wrong_type, atomic: ok}}

import os

import torch


def save_checkpoint(path, net, optimizer, epoch, loss):
    part = str(path) + ".tmp"
    torch.save(
        {
            "epoch": epoch,
            "model_state_dict": net.state_dict(),
            "loss": loss,
        },
        part,
    )
    os.replace(part, path)
