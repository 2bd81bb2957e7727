# A checkpoint of 80 MB, more than the scratch folder holds; the next question has it back.
# expect:
#   questions:
#     save_checkpoint: {status: partial, code: raised}
#     load_checkpoint: {status: passed}

import os

import torch


def save_checkpoint(path, net, optimizer, epoch, loss):
    part = str(path) + ".tmp"
    torch.save(
        {
            "epoch": epoch,
            "model_state_dict": net.state_dict(),
            "optimizer_state_dict": optimizer.state_dict(),
            "loss": loss,
            "rest": torch.zeros(20_000_000),
        },
        part,
    )
    os.replace(part, path)


def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    net.load_state_dict(state["model_state_dict"])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["epoch"], state["loss"]
