# Weights in half precision.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {epoch: requirement_not_met, model: wrong_value, resumes: wrong_value}}

import os

import torch


def save_checkpoint(path, net, optimizer, epoch, loss):
    part = str(path) + ".tmp"
    torch.save(
        {
            "epoch": epoch,
            "model_state_dict": {k: v.half() if v.is_floating_point() else v for k, v in net.state_dict().items()},
            "optimizer_state_dict": optimizer.state_dict(),
            "loss": loss,
        },
        part,
    )
    os.replace(part, path)
