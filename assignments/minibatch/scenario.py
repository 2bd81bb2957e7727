"""Runs in the guest, beside the hand-in: builds nets, loaders, optimisers, files and writers.

Nets and optimisers are made here, on inputs that the case brings, so that what a hand-in trains
can be compared with what the reference trains. ``Watched`` notes what a loop does on the way.
"""

from __future__ import annotations

import copy
import json
import math
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

from grader.guest.api import Artifact, artifact, artifacts, placement, scratch, watching
from grader.guest.training import Rows, Watched, epochs


def _small(x, width=6):
    """A net for the rows ``x``, the same wherever the call began."""
    layers = torch.nn.Linear(x.shape[1], width), torch.nn.Tanh(), torch.nn.Linear(width, 1)
    return torch.nn.Sequential(*layers).to(x.dtype)


def _normed(x):
    """A net in which it matters whether it is in train or eval mode."""
    layers = torch.nn.Linear(x.shape[1], 6), torch.nn.BatchNorm1d(6), torch.nn.Linear(6, 1)
    net = torch.nn.Sequential(*layers).to(x.dtype)
    net[1].running_mean.copy_(torch.linspace(-1, 1, 6))
    net[1].running_var.copy_(torch.linspace(0.5, 3, 6))
    return net


def _state(module):
    return {name: value.clone() for name, value in module.state_dict().items()}


def _mode(net):
    return "train" if net.training else "eval"


def _folder():
    """A folder that goes with all that was left in it: a full disk would cost other questions."""
    return tempfile.TemporaryDirectory(dir=scratch())


# make_loader


def batches(student, x, y, batch_size):
    """Go through an unshuffled loader twice."""
    loader = student.make_loader(x, y, batch_size, False)
    return {"batches": [[tuple(pair) for pair in loader] for _ in range(2)], "length": len(loader)}


def shuffled(student, x, y, batch_size):
    """Go through a shuffled loader four times."""
    loader = student.make_loader(x, y, batch_size, True)
    seen = epochs(loader, x, y, 4)
    seen["reshuffled"] = seen.pop("orders") > 1
    return {**seen, "length": len(loader), "loader": isinstance(loader, DataLoader)}


def unshuffled(student, x, y, batch_size):
    """Go through an unshuffled loader once; all the same as above is asked of it."""
    loader = student.make_loader(x, y, batch_size, False)
    return {**epochs(loader, x, y, 1), "length": len(loader)}


# DigitDataset


def _write(root, images, threes, content=True):
    for number, (image, three) in enumerate(zip(images, threes.tolist(), strict=True)):
        file = root / ("3" if three else "7") / f"{number * 7919 % 1000:04d}.npy"
        file.parent.mkdir(parents=True, exist_ok=True)
        if content:
            np.save(file, image.reshape(28, 28).numpy())
        else:
            file.write_bytes(b"nothing to read yet")


def _in_order(items, images, threes):
    """Return items in the order of the images, labels so that the first image has its own."""
    pictures = torch.stack([picture for picture, _ in items])
    labels = torch.stack([label for _, label in items])
    order = torch.tensor(Rows(images).of((pictures.double() * 255).round().to(torch.uint8)))
    places = order.argsort(stable=True)
    labels = labels[places]
    # Which of the digits is 1 differs between courses.
    if labels.flatten()[0] != threes[0]:
        labels = 1 - labels
    return {"images": pictures[places], "labels": labels}


def dataset(student, images, threes):
    """Make the data set while its files hold nothing that could be read, then read each."""
    with _folder() as root:
        _write(Path(root), images, threes, content=False)
        found = student.DigitDataset(root)
        _write(Path(root), images, threes)
        items = [found[index] for index in range(len(found))]
        return {"length": len(found), **_in_order(items, images, threes)}


def out_of_range(student, images, threes):
    """Ask for the last image, and for the one after it."""
    with _folder() as root:
        _write(Path(root), images, threes)
        found = student.DigitDataset(Path(root))
        found[len(found) - 1]
        try:
            found[len(found)]
        except IndexError:
            raised = "IndexError"
        except Exception as error:  # noqa: BLE001  whatever else it is
            raised = type(error).__name__
        else:
            raised = "nothing"
        return {"raised": raised}


def with_workers(student, images, threes):
    """Read through a loader with two processes."""
    with _folder() as root:
        _write(Path(root), images, threes)
        loader = DataLoader(student.DigitDataset(root), batch_size=3, num_workers=2)
        items = [item for batch in loader for item in zip(*batch, strict=True)]
        return _in_order(items, images, threes)


# build_net


def structure(student, x, first, first_bias, second, second_bias):
    """Put known numbers into a net by their shapes, and look at what it makes of ``x``."""
    net, other = student.build_net(), student.build_net()
    if net is None:
        return None
    before = [weight.detach().clone() for weight in net.parameters()]
    shapes = sorted(tuple(weight.shape) for weight in before)
    pairs = zip(before, other.parameters(), strict=True)
    found = {
        "shapes": shapes,
        "weights": sum(weight.numel() for weight in before),
        # Biases may begin at zero.
        "random": not any(torch.equal(one, two) for one, two in pairs if one.dim() > 1),
        "trainable": all(weight.requires_grad for weight in net.parameters()),
    }
    known = {tuple(value.shape): value for value in (first, first_bias, second, second_bias)}
    if shapes == sorted(known):
        with torch.no_grad():
            for weight in net.parameters():
                weight.copy_(known[tuple(weight.shape)])
            found["outputs"] = net(x)
    return found


# train_minibatch, train_full_batch


KEEP = (0, 2, 3, 11)
"""Steps whose gradients are compared: of 19 rows by eights, the first, the short batch after two
whole ones, the next epoch's first, and the last of four epochs."""


def _lopsided(output, target):
    """A loss that tells its two arguments apart."""
    return torch.nn.functional.mse_loss(output, target) + 0.3 * (output - target).mean()


def _trained(net, optimizer, x, y, run):
    """Let ``run(watched, loss)`` train a net, and return what came of it and what was noted."""
    watched = Watched(net, Rows(x))
    losses = run(watched, watched.watch(optimizer, _lopsided, KEEP))
    notes, mode = watched.notes, _mode(net)
    weights = _state(net)
    net.eval()
    with torch.no_grad():
        after = _lopsided(net(x), y).item()
    return {
        "losses": losses,
        "weights": weights,
        "loss_after": after,
        "steps": notes.steps,
        "fresh": notes.steps > 0 and all(notes.fresh),
        "gradients": notes.gradients,
        "rows": notes.rows,
        "modes": sorted(set(notes.modes)),
        "mode_after": mode,
    }


def train(student, x, y, batch_size, times, shuffle=False, mode="train", device="cpu"):
    """Train a small net from a loader."""
    net = _small(x) if mode == "train" else _normed(x).eval()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    order = torch.Generator().manual_seed(3)
    loader = DataLoader(TensorDataset(x, y), batch_size, shuffle=shuffle, generator=order)

    def run(watched, loss_fn):
        return student.train_minibatch(watched, loader, loss_fn, optimizer, times, device)

    return _trained(net, optimizer, x, y, run)


def train_shuffled(student, x, y, batch_size, times):
    """Train from a loader that shuffles, always in the same way."""
    return train(student, x, y, batch_size, times, shuffle=True)


def train_from_eval(student, x, y, batch_size, times):
    """Train a net that comes in eval mode."""
    return train(student, x, y, batch_size, times, mode="eval")


def learn(student, images, labels, others, truth):
    """Train the lecture's net on digits, and try it on others."""
    net = torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.005)
    loader = DataLoader(TensorDataset(images.float() / 255, labels), 256, shuffle=True)
    loss_fn = torch.nn.BCEWithLogitsLoss()
    losses = student.train_minibatch(net, loader, loss_fn, optimizer, 12, "cpu")
    with torch.no_grad():
        right = (net(others.float() / 255) > 0) == (truth > 0.5)
    return {"losses": losses, "accuracy": right.double().mean().item()}


def train_on_gpu(student, x, y, batch_size, times):
    """Train on a GPU from n rows and from 4 n; what it held at most must not follow n."""
    losses, found = [], {}
    for name, copies in (("small", 1), ("large", 4)):
        torch.manual_seed(copies)  # whatever was drawn in the first training
        net = _small(x, width=2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.02)
        data = TensorDataset(x.repeat(copies, 1), y.repeat(copies, 1))
        loader = DataLoader(data, batch_size)
        loss_fn = torch.nn.functional.mse_loss
        with watching() as seen:
            losses.append(student.train_minibatch(net, loader, loss_fn, optimizer, times, "cuda:0"))
        found[name] = seen.report
    return {"losses": losses, "placed": placement(net), **found}


def train_whole(student, x, y, times):
    """Train with all rows at once; without a number of epochs, for 200."""
    net = _small(x)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)

    def run(watched, loss_fn):
        more = () if times is None else (times,)
        return student.train_full_batch(watched, x, y, loss_fn, optimizer, *more)

    return _trained(net, optimizer, x, y, run)


# predict


def predict(student, x, batch_size, mode):
    """Predict with a net of which train mode would make something else."""
    torch.manual_seed(5)
    net = torch.nn.Sequential(_normed(x), torch.nn.Dropout(0.5)).train(mode == "train")
    watched = Watched(net)
    result = student.predict(watched, x, batch_size)
    notes = watched.notes
    return {
        "probabilities": result,
        "in_batches": max(notes.sizes, default=0) <= batch_size,
        "modes": sorted(set(notes.modes)),
        "recorded": any(notes.recorded) or getattr(result, "requires_grad", False),
        "mode_after": _mode(net),
    }


# save_checkpoint, load_checkpoint


def _adam(x):
    net = _normed(x)
    return net, torch.optim.Adam(net.parameters(), lr=0.01)


def _go_on(net, optimizer, x, y, times):
    net.train()
    for _ in range(times):
        loss = torch.nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def _states(net, optimizer):
    return {"model_state_dict": net.state_dict(), "optimizer_state_dict": optimizer.state_dict()}


def save(student, x, y, epoch):
    """Train, save, and go on from what was saved."""
    net, optimizer = _adam(x)
    loss = _go_on(net, optimizer, x, y, 3)
    with _folder() as folder:
        file = Path(folder) / "last.pt"
        student.save_checkpoint(file, net, optimizer, epoch, loss)
        return {"file": artifact(file), "resumed": _resumed(file, x, y)}


def _resumed(file, x, y):
    """Go on from a checkpoint; return the weights, or what keeps one from going on."""
    net, optimizer = _adam(x)
    try:
        saved = torch.load(file, weights_only=True)
        net.load_state_dict(saved["model_state_dict"])
        optimizer.load_state_dict(saved["optimizer_state_dict"])
    except Exception as error:  # noqa: BLE001  whatever was saved: that costs this check only
        return f"cannot go on: {type(error).__name__}"
    _go_on(net, optimizer, x, y, 3)
    return _state(net)


class _Unsaveable(torch.nn.Module):
    """Breaks off whoever saves its state."""

    def get_extra_state(self):
        return self

    def __reduce__(self):
        raise RuntimeError("saving breaks off here")


def save_broken_off(student, x, y):
    """Save twice into one file; the second time saving breaks off."""
    net, optimizer = _adam(x)
    loss = _go_on(net, optimizer, x, y, 1)
    with _folder() as folder:
        file = f"{folder}/again.pt"
        student.save_checkpoint(file, net, optimizer, 1, loss)
        net.append(_Unsaveable())
        try:
            student.save_checkpoint(file, net, optimizer, 2, loss)
            raised = False
        except RuntimeError:
            raised = True
        return {"file": artifact(file), "raised": raised}


def load(student, x, y, epoch):
    """Load what was saved here, and go on from it."""
    net, optimizer = _adam(x)
    loss = _go_on(net, optimizer, x, y, 3)
    resumed, its_optimizer = _adam(x)
    with _folder() as folder:
        file = Path(folder) / "given.pt"
        torch.save({"epoch": epoch, "loss": loss, **_states(net, optimizer)}, file)
        told = student.load_checkpoint(file, resumed, its_optimizer)
        loaded = _state(resumed)
        _go_on(resumed, its_optimizer, x, y, 3)
        return {"told": told, "loaded": loaded, "resumed": _state(resumed)}


class _Runs:
    """Runs code in whoever unpickles it: makes a file."""

    def __init__(self, file):
        self._file = file

    def __reduce__(self):
        return Path.touch, (self._file,)


def load_from_anybody(student, x, y):
    """Load a file that would run code."""
    net, optimizer = _adam(x)
    _go_on(net, optimizer, x, y, 1)
    with _folder() as folder:
        file, trace = Path(folder) / "anybody.pt", Path(folder) / "code_ran"
        torch.save({"epoch": 1, "loss": 0.5, "n": _Runs(trace), **_states(net, optimizer)}, file)
        try:
            student.load_checkpoint(file, *_adam(x))
        except Exception:  # noqa: BLE001  refusing is right, whatever it is called
            return {"code_ran": trace.exists()}
        return {"code_ran": True}


# EarlyStopping


def early_stopping(student, losses, patience, min_delta):
    """Show the losses one after the other until training is to stop; then restore.

    The weights are the number of the epoch, and so are BatchNorm's statistics.
    """
    more = () if min_delta is None else (min_delta,)
    stopping = student.EarlyStopping(patience, *more)
    net = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.BatchNorm1d(1))
    said = []
    for number, loss in enumerate(losses, start=1):
        with torch.no_grad():
            for value in net.state_dict().values():
                value.fill_(number)
        said.append(bool(stopping.step(loss, net)))
        if said[-1]:
            break
    stopping.restore(net)
    return {"said": said, "best_loss": float(stopping.best_loss), "restored": _state(net)}


# freeze_backbone


class _Model(torch.nn.Module):
    def __init__(self, x, normed):
        super().__init__()
        self.backbone = torch.nn.Sequential(
            torch.nn.Linear(x.shape[1], 6),
            torch.nn.BatchNorm1d(6) if normed else torch.nn.Identity(),
            torch.nn.Tanh(),
        )
        head = torch.nn.Sequential(torch.nn.Linear(6, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
        self.last = torch.nn.ModuleDict({"head": head})

    def forward(self, x):
        return self.last["head"](self.backbone(x))


def freeze(student, x, y, normed, mode):
    """Freeze, train a little with what is returned, and look at both parts."""
    model = _Model(x, normed).to(x.dtype).train(mode == "train")
    head = model.last["head"]
    # What a head may come with: frozen by an earlier attempt.
    head[0].requires_grad_(False)
    weights = list(student.freeze_backbone(model, head))
    own = {id(weight): place for place, weight in enumerate(head.parameters())}
    flags = {name: weight.requires_grad for name, weight in model.named_parameters()}
    found = {
        "flags": flags,
        "returned": [own.get(id(weight), -1) for weight in weights],
        "modes": [_mode(model.backbone[1]), _mode(head)],
    }
    optimizer = torch.optim.SGD(weights, lr=0.1, weight_decay=0.1)
    for _ in range(3):
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {**found, "backbone": _state(model.backbone), "head": _state(head)}


# log_training, log_to_wandb


def log(student, history):
    """Log, and take the file while the writer is still open."""
    from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415  an optional package

    with _folder() as folder, SummaryWriter(folder) as writer:
        student.log_training(writer, copy.deepcopy(history))
        return {"log": artifacts(f"{Path(folder).name}/**/*tfevents*")}


def log_offline(student, config, history):
    """Log a run, and take the file that it left."""
    import wandb  # noqa: PLC0415  an optional package

    student.log_to_wandb(copy.deepcopy(config), copy.deepcopy(history))
    # What writes the file is a process of its own, which may be behind.
    wandb.teardown()
    return {"run": artifacts("wandb/offline-run-*/*.wandb")}


# search, best_trial


def _loss(config):
    """Least at lr = 0.003 and 16 hidden numbers; cannot train 32 of them. As in reader.py."""
    if config["hidden"] == 32:
        return math.nan
    return abs(math.log(config["lr"] / 0.003)) + abs(config["hidden"] - 16) / 8


def _plain(config):
    """Return a configuration in Python's own numbers, for numpy's and torch's are as good."""
    return {str(name): _number(value) for name, value in dict(config).items()}


def _number(value):
    try:
        return value if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        return f"a {type(value).__name__}"


def _tried(student, space, samples, seed):
    """Search once; return the configurations tried, in order, and the result."""
    tried = []

    def train_fn(config):
        tried.append(_plain(config))
        return _loss(tried[-1])

    return tried, student.search(copy.deepcopy(space), train_fn, samples, seed)


def _left(**notes):
    """Return notes for the reader, who says what follows from them: beside it runs no hand-in."""
    return {"search": Artifact("notes.json", json.dumps(notes).encode())}


def search(student, space, samples, seed):
    """Search three times: two times with one seed, and once with another."""
    tried, result = _tried(student, space, samples, seed)
    if result is None:
        return None
    config, loss = result
    again, _ = _tried(student, space, samples, seed)
    other, _ = _tried(student, space, samples, seed + 1)
    returned = [_plain(one) if isinstance(one, Mapping) else _number(one) for one in (config, loss)]
    return _left(tried=tried, again=again, other=other, returned=returned)


def search_widely(student, space, samples, seed):
    """Search once, to see how what was tried lies."""
    return _left(tried=_tried(student, space, samples, seed)[0])


def trials(student, saved, metric):
    """Write down what Ray Tune saves, and ask for the best."""
    with _folder() as root:
        for name, config, reports in saved:
            folder = Path(root) / name
            folder.mkdir()
            (folder / "params.json").write_text(json.dumps(config))
            if reports:
                lines = "".join(json.dumps({**one, "config": config}) + "\n" for one in reports)
                (folder / "result.json").write_text(lines)
        (Path(root) / "experiment_state.json").write_text("{}")
        result = student.best_trial(root, metric)
    return result and {"config": result[0], "value": result[1]}
