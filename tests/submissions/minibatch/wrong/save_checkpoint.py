# Wrong ways to write save_checkpoint. docs/authoring.md explains the cells.

import os
import torch


# %% save_epoch_from_zero
# Another epoch than the one that was said.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {epoch: wrong_value, model: ok, atomic: wrong_value}}

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


# %% save_fresh_optimizer
# The state of an optimiser that has not made a step.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {epoch: ok, loss: ok, model: ok, optimizer: wrong_type, resumes: wrong_value, atomic: ok}}

def save_checkpoint(path, net, optimizer, epoch, loss):
    part = str(path) + ".tmp"
    torch.save(
        {
            "epoch": epoch,
            "model_state_dict": net.state_dict(),
            "optimizer_state_dict": type(optimizer)(net.parameters(), lr=optimizer.param_groups[0]["lr"]).state_dict(),
            "loss": loss,
        },
        part,
    )
    os.replace(part, path)


# %% save_half_precision
# Weights in half precision.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {epoch: requirement_not_met, model: wrong_value, resumes: wrong_value}}

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


# %% save_in_place
# Written straight over the older file.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {model: ok, atomic: unreadable_file}}

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


# %% save_other_names
# Items with other names.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {epoch: requirement_not_met, loss: requirement_not_met, model: wrong_type, optimizer: ok, resumes: wrong_value, atomic: requirement_not_met}}

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


# %% save_parameters_only
# The parameters, without BatchNorm's statistics.
# expect:
#   questions:
#     save_checkpoint: {status: partial, points: 2.6, checks: {epoch: requirement_not_met, loss: requirement_not_met, model: wrong_type, optimizer: ok, resumes: wrong_value, atomic: wrong_value}}

def save_checkpoint(path, net, optimizer, epoch, loss):
    part = str(path) + ".tmp"
    torch.save(
        {
            "epoch": epoch,
            "model_state_dict": dict(net.named_parameters()),
            "optimizer_state_dict": optimizer.state_dict(),
            "loss": loss,
        },
        part,
    )
    os.replace(part, path)


# %% save_removes_first
# The older file is removed before the new one is written.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {model: ok, atomic: missing_file}}

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


# %% save_rounds_loss
# A rounded loss.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {loss: wrong_value, model: ok}}

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


# %% save_stale_rates
# The optimiser's moments are saved as zeros.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {model: ok, optimizer: wrong_value, resumes: wrong_value}}

def save_checkpoint(path, net, optimizer, epoch, loss):
    part = str(path) + ".tmp"
    torch.save(
        {
            "epoch": epoch,
            "model_state_dict": net.state_dict(),
            "optimizer_state_dict": {
                **optimizer.state_dict(),
                "state": {
                    k: {n: torch.zeros_like(t) for n, t in s.items()}
                    for k, s in optimizer.state_dict()["state"].items()
                },
            },
            "loss": loss,
        },
        part,
    )
    os.replace(part, path)


# %% save_whole_objects
# The net itself, not its state: it can only be loaded by running what is in the file.
# expect:
#   questions:
#     save_checkpoint: {status: failed, checks: {epoch: requirement_not_met, loss: requirement_not_met, model: unreadable_file, optimizer: unreadable_file, resumes: unreadable_file, atomic: requirement_not_met}}

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


# %% save_without_optimizer
# The optimiser's state is forgotten.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {epoch: ok, loss: ok, model: ok, optimizer: wrong_type, resumes: wrong_value, atomic: ok}}

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


# %% save_by_path_alone
# Takes a Path for granted; text has no parent.
# expect:
#   questions:
#     save_checkpoint: {status: partial, checks: {epoch: ok, model: ok, resumes: ok, atomic: ok, path_as_text: wrong_value}}

def save_checkpoint(path, net, optimizer, epoch, loss):
    part = path.with_suffix(".part")
    states = {"model_state_dict": net.state_dict(), "optimizer_state_dict": optimizer.state_dict()}
    torch.save({**states, "epoch": epoch, "loss": loss}, part)
    os.replace(part, path)
