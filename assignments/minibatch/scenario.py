"""Runs in the stage, without the submission: draws, asks, and works out what follows.

What is trained lives in the actor, with weights and rows that come from here. What must not be
known there stays here: the next loss, the images behind the files, the answers of a net.
"""

from __future__ import annotations

import copy
import json
import math
import struct
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from grader.scenario_process import (
    MadeByCode,
    RemoteError,
    WrongFileError,
    actor,
    callback,
    folder,
    given,
    read,
    repeated,
)

_build = partial(given, "build", keep=True)
_net = partial(given, "net", keep=True)


def _optimizer(name, net, **options):
    return _build(name, actor.method(net, "parameters", keep=True), **options)


def _state(of):
    return actor.method(of, "state_dict")


def _fill(net):
    """Put drawn numbers into a net."""
    state = _state(net)
    for name, value in state.items():
        if value.is_floating_point():
            state[name] = torch.rand_like(value) - (0 if "running" in name else 0.5)
    actor.method(net, "load_state_dict", state, keep=True)


def rows(x, y, batch_size, times):
    """Say what comes of the rows in some epochs; with more than two, they are shuffled."""
    loader = actor.keep("make_loader", x, y, batch_size, times > 2)
    length = actor.method(loader, "__len__")
    epochs = [actor.collect(loader, most=len(x)) for _ in range(times)]
    labels = [torch.cat([label for _, label in epoch]) for epoch in epochs]
    split = [_places(x, [batch for batch, _ in epoch]) for epoch in epochs]
    orders = [[row for batch in epoch for row in batch] for epoch in split]
    every_row = all(len(batch) <= batch_size for epoch in split for batch in epoch)
    every_row &= all(sorted(order) == list(range(len(x))) for order in orders)
    sizes, met = [], {-1}
    for batch in split[0]:
        # Rows that came before, or are none of the data, do not count.
        sizes.append(len({*batch} - met))
        met |= {*batch}
    return {
        "batches": [[tuple(pair) for pair in epoch] for epoch in epochs if times == 2],
        "sizes": sizes,
        "length": length,
        "every_row": every_row,
        # Whoever leaves rows out may still pair the others; a few are too few to tell. All rows in
        # one batch would be the arguments, handed back.
        "paired": all(len(batch) < len(x) for epoch in split for batch in epoch)
        and all(
            2 * len(order) > len(x)
            and len({*order}) > 1
            and min(order) >= 0
            and torch.equal(label, y[order])
            for label, order in zip(labels, orders, strict=True)
        ),
        "reshuffled": len({tuple(order) for order in orders}) > 1,
    }


def _places(data, batches):
    """Return where in the data each row of each batch stands; -1: nowhere."""
    known = {row.tobytes(): place for place, row in enumerate(data.numpy())}
    return [[known.get(row.tobytes(), -1) for row in batch.numpy()] for batch in batches]


def _digits(images, threes, kind=str):
    """Make the data set while its files hold nothing that could be read; then fill them."""
    root, names, files = folder(), torch.randperm(10_000).tolist(), []
    for three in threes.tolist():
        files.append(root / ("3" if three else "7") / f"{names.pop():04d}.npy")
        files[-1].parent.mkdir(exist_ok=True)
        files[-1].write_bytes(b"nothing to read yet")
    data = actor.keep("DigitDataset", kind(root))
    for file, image in zip(files, images, strict=True):
        np.save(file, image.reshape(28, 28).numpy())
    return data


def _shown(pictures, images):
    """Return which of the images each picture shows, whatever its brightness; -1: none."""
    if pictures[0].numel() != images[0].numel():
        return torch.full((len(pictures),), -1)

    def patterns(rows):
        rows = rows.reshape(len(rows), -1).double()
        rows = rows - rows.mean(dim=1, keepdim=True)
        return rows / rows.norm(dim=1, keepdim=True).clamp(min=1e-12)

    # Two drawn images are nearly at right angles; one that is brighter is parallel to itself.
    alike, places = (patterns(pictures) @ patterns(images).T).abs().max(dim=1)
    return torch.where(alike > 0.999, places, -1)


def _in_order(items, images, threes):
    """Return items in the order of the images, labels so that the first image has its own."""
    pictures = torch.stack([picture for picture, _ in items])
    labels = torch.stack([label for _, label in items])
    order = _shown(pictures, images).argsort(stable=True)
    labels = labels[order]
    # Which of the digits is 1 differs between courses.
    if labels.flatten()[0] != threes[0]:
        labels = 1 - labels
    return {"images": pictures[order], "labels": labels}


def dataset(images, threes):
    """Read each image, and ask for one more."""
    data = _digits(images, threes)
    length = actor.method(data, "__len__")
    items = [actor.item(data, index) for index in range(min(length, 2 * len(images)))]
    try:
        actor.item(data, len(images))
        raised = "nothing"
    except RemoteError as error:
        raised = error.type
    return {"length": length, "raised": raised, **_in_order(items, images, threes)}


def with_workers(images, threes):
    """Read through a loader with two processes."""
    data = _digits(images, threes, Path)
    loader = _build("utils.data.DataLoader", data, batch_size=3, num_workers=2)
    batches = [zip(*batch, strict=True) for batch in actor.collect(loader, most=len(images))]
    return _in_order([item for batch in batches for item in batch], images, threes)


def _forward(first, first_bias, second, second_bias, x):
    return functional.linear(
        torch.relu(functional.linear(x, first, first_bias)), second, second_bias
    )


def _answers(net, known, x):
    """Put known numbers into a net by their shapes; return what it makes of ``x``."""
    by_shape = {tuple(weight.shape): weight for weight in known}
    state = {name: by_shape[tuple(value.shape)] for name, value in _state(net).items()}
    actor.method(net, "load_state_dict", state, keep=True)
    return actor.method(net, "__call__", x)


def structure():
    """Put drawn numbers into a net by their shapes, and look at what it makes of drawn rows."""
    net, other = actor.keep("build_net"), actor.keep("build_net")
    if actor.value(net) is None:
        return None
    known = [0.1 * torch.randn(30, 784), torch.randn(30), torch.randn(1, 30), torch.randn(1)]
    starts = [list(_state(one).values()) for one in (net, other)]
    shapes, wanted = [sorted(tuple(w.shape) for w in some) for some in (starts[0], known)]
    layers = {"shapes": shapes, "order": None}
    if shapes != wanted:
        return {"layers": layers}
    # Two layers alone decide this order: no ReLU cuts anything off, and a sigmoid changes no order.
    wide, rows = [known[0], known[1] + 12, 0.1 * known[2], torch.zeros(1)], torch.rand(200, 784)
    values = _forward(*wide, rows).flatten()
    wide[3] = -values.mean().reshape(1)
    rows = rows[values.argsort()[12::25][torch.randperm(8)]]
    layers["order"] = _answers(net, wide, rows).flatten().argsort().tolist()
    # Biases may begin at zero.
    same = [torch.equal(*pair) for pair in zip(*starts, strict=True) if pair[0].dim() > 1]
    outputs = _answers(net, known, torch.rand(9, 784))
    return {"layers": layers, "outputs": outputs, "random": not any(same)}


def trainable():
    """Train a net that begins with drawn numbers."""
    net, rows = actor.keep("build_net"), torch.rand(9, 784)
    _answers(net, [torch.rand(*shape) - 0.5 for shape in ((30, 784), (30,), (1, 30), (1,))], rows)
    given("descend", net, _optimizer("optim.SGD", net, lr=0.001), rows, torch.rand(9, 1))
    return sorted(_state(net).values(), key=lambda weight: tuple(weight.shape))


def _learner(x, optimizer, mode=None):
    """Return a net with drawn weights, a loss and an optimiser; with a mode, the net normalizes."""
    norm = ("_Norm", 6) if mode else ("nn.Identity",)
    net = _net(x.dtype, ("nn.Linear", x.shape[1], 6), ("nn.Tanh",), norm, ("nn.Linear", 6, 1))
    _fill(net)
    actor.method(net, "train", mode != "eval", keep=True)
    return net, _build("_Lopsided"), _optimizer(optimizer, net, lr=0.02, momentum=0.9)


def _loader(x, y, batch_size, shuffle):
    """Return a loader whose order, if it shuffles, is drawn here."""
    order, seed = _build("Generator"), int(torch.randint(2**31, ()))
    actor.method(order, "manual_seed", seed, keep=True)
    data, name = _build("utils.data.TensorDataset", x, y), "utils.data.DataLoader"
    return _build(name, data, batch_size, shuffle=shuffle, generator=order)


def _trained(net, x, losses, noticed):
    """Return what a training led to, and what the net says in the mode in which it was left."""
    state = _state(net)
    # Other numbers: then the mode alone decides, and not how well it was trained.
    _fill(net)
    return {
        "losses": losses,
        "weights": {name: state[name] for name in state if name.endswith(("weight", "bias"))},
        "means": state.get("2.running_mean"),
        "old_gradients": actor.attr(noticed, "met"),
        "answers": actor.method(net, "__call__", torch.rand(5, x.shape[1], dtype=x.dtype)),
    }


def train(x, y, batch_size, times, shuffle, optimizer, mode):
    """Train a small net from a loader; with a mode, one that normalizes."""
    net, loss_fn, stepper = _learner(x, optimizer, mode)
    loader, noticed = _loader(x, y, batch_size, shuffle), _build("OldGradients", net)
    losses = actor.call("train_minibatch", net, loader, loss_fn, stepper, times, "cpu")
    return _trained(net, x, losses, noticed)


def learn(images, labels, others, truth):
    """Train the lecture's net on digits, and try it here, on digits that have never left."""
    net = _net(torch.float32, ("nn.Linear", 784, 30), ("nn.ReLU",), ("nn.Linear", 30, 1))
    optimizer = _optimizer("optim.Adam", net, lr=0.005 + 0.002 * torch.rand(()).item())
    loader, loss_fn = (
        _loader(images.float() / 255, labels, 256, True),
        _build("nn.BCEWithLogitsLoss"),
    )
    losses = actor.call("train_minibatch", net, loader, loss_fn, optimizer, 12, "cpu")
    right = (_forward(*_state(net).values(), others.float() / 255) > 0) == (truth > 0.5)
    return {"losses": losses, "accuracy": right.double().mean().item()}


def train_whole(x, y, times, optimizer):
    """Train with all rows at once; without a number of epochs, for 200."""
    net, loss_fn, stepper = _learner(x, optimizer)
    more, noticed = () if times is None else (times,), _build("OldGradients", net)
    losses = actor.call("train_full_batch", net, x, y, loss_fn, stepper, *more)
    return _trained(net, x, losses, noticed)


def predict(x, batch_size, mode):
    """Predict with a net whose answers come from here; in train mode they are others."""
    factors, others = torch.randn(2, x.shape[1], 1, dtype=x.dtype)
    sizes, recorded = [], []

    def answer(rows, training, recording):
        sizes.append(len(rows))
        recorded.append(recording)
        return torch.sin(rows) @ (others if training else factors)

    net = _net(x.dtype, ("_Asking", callback(answer, most=2 * len(x))))
    actor.method(net, "train", mode == "train", keep=True)
    return {
        "probabilities": actor.call("predict", net, x, batch_size),
        "in_batches": max(sizes, default=0) <= batch_size,
        "recorded": any(recorded),
        "answers": actor.method(net, "__call__", torch.randn_like(x[:3])),
    }


def train_on_gpu(x, y, batch_size, times):
    """Train on a GPU from n rows and from 4 n; what it held at most must not follow n.

    Where the net was, and what the GPU held, running the logs again tells.
    """
    sizes = {"0.weight": (2, 3), "0.bias": (2,), "2.weight": (1, 2), "2.bias": (1,)}
    weights = {name: torch.randn(size, dtype=x.dtype) for name, size in sizes.items()}
    leaves = {"x": x, "y": y, **weights}
    said = {"losses": []}
    for name, copies in (("small", 1), ("large", 4)):
        answer = given("train_on_gpu", actor.module, leaves, copies, batch_size, times)
        said["losses"].append(answer["losses"])
        outputs = {f"output[{each}]": weight for each, weight in answer["weights"].items()}
        seen = repeated(answer, leaves, outputs, 1, "training")
        said |= {
            name: seen["training"],
            "placed": seen["placement"],
            f"again_{name}": seen["again"],
        }
    return said


_STATES = ("model_state_dict", "optimizer_state_dict")


def _checkpoint(x, y, states=None):
    """Train for three steps, from the beginning or from states; return a checkpoint."""
    # In float32 rounding alone, which differs between processors, would tell where Adam goes; and
    # numbers that were drawn in it differ, too.
    with_dtype = partial(torch.nn.Linear, dtype=x.dtype)
    net = torch.nn.Sequential(
        with_dtype(3, 6), torch.nn.BatchNorm1d(6, dtype=x.dtype), with_dtype(6, 1)
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for one, name in zip((net, optimizer), _STATES, strict=True):
        if states:
            one.load_state_dict(copy.deepcopy(states[name]))
    for _ in range(3):
        loss = functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    drawn = {"epoch": int(torch.randint(1, 10**6, ())), "loss": torch.rand(()).double().item()}
    return {**drawn, _STATES[0]: dict(net.state_dict()), _STATES[1]: optimizer.state_dict()}


def _resumed(states, x, y):
    """Return where training goes from states that came from the actor, or what is in the way."""
    try:
        return {"raises": "nothing", "weights": _checkpoint(x, y, states)["model_state_dict"]}
    except Exception as error:  # noqa: BLE001  whatever the states are: that costs this check only
        return {"raises": type(error).__name__, "weights": None}


def _theirs(states):
    """Return a net and an optimiser in the actor, with these states."""
    layers = ("nn.Linear", 3, 6), ("nn.BatchNorm1d", 6), ("nn.Linear", 6, 1)
    net = _net(states[_STATES[0]]["0.weight"].dtype, *layers)
    pair = net, _optimizer("optim.Adam", net, lr=0.01)
    for one, name in zip(pair, _STATES, strict=True):
        actor.method(one, "load_state_dict", states[name], keep=True)
    return pair


def _opened(path):
    try:
        return torch.load(path, weights_only=True)
    except FileNotFoundError:
        raise
    except Exception as error:
        # Torch's own words run to a page, and end in how to load the file all the same.
        raise WrongFileError(
            en="The file is no whole file of torch.save, or holds more than tensors in plain "
            "containers. Save state_dict(), not the net or the optimizer itself.",
            ko="torch.save로 끝까지 쓴 파일이 아니거나, dict나 list에 담은 텐서 말고 다른 것이 "
            "들어 있습니다. 신경망이나 옵티마이저가 아니라 그 state_dict()를 저장하세요.",
        ) from error


def _left_by_a_broken_save(path):
    try:
        return _opened(path)
    except WrongFileError as error:
        raise WrongFileError(
            en="A later save broke off, and the earlier file is gone.",
            ko="나중의 저장이 도중에 끊겼고, 앞서 저장한 파일이 사라졌습니다.",
        ) from error


def save(x, y, twice):
    """Save a net that was trained here, and go on from the file."""
    drawn, path = _checkpoint(x, y), folder(write=True) / "last.pt"
    net, optimizer = _theirs(drawn)
    actor.call("save_checkpoint", path, net, optimizer, drawn["epoch"], drawn["loss"])
    if twice:
        actor.method(net, "append", _build("_Unsaveable"), keep=True)
        with suppress(RemoteError):
            actor.call("save_checkpoint", str(path), net, optimizer, 10**7, 0.5)
    saved = read(_left_by_a_broken_save if twice else _opened, path)
    return {**saved, "resumed": _resumed(saved, x, y)}


def save_as_text(x, y):
    """Save under a path that is text."""
    drawn, path = _checkpoint(x, y), folder(write=True) / "last.pt"
    with suppress(RemoteError):
        actor.call("save_checkpoint", str(path), *_theirs(drawn), 3, 0.5)
    return {"saved": path.is_file()}


def load_as_text(x, y):
    """Load under a path that is text."""
    drawn, path = _checkpoint(x, y), folder() / "given.pt"
    torch.save(drawn, path)
    try:
        actor.call("load_checkpoint", str(path), *_theirs(_checkpoint(x, y)))
    except RemoteError as error:
        return {"raised": error.type}
    return {"raised": "nothing"}


def load(x, y):
    """Load a file that was written here into a net with other weights, and go on here."""
    drawn, path = _checkpoint(x, y), folder() / "given.pt"
    torch.save(drawn, path)
    pair = _theirs(_checkpoint(x, y))
    told = actor.call("load_checkpoint", path, *pair)
    states = dict(zip(_STATES, map(_state, pair), strict=True))
    return {"told": told, "loaded": states[_STATES[0]], "resumed": _resumed(states, x, y)}


def load_from_anybody(x, y):
    """Load eight files, of which four would run code; in what order is drawn.

    The loss in these is what the code comes to: whoever runs it has a file like all others.
    """
    heard, told, root = [], [], folder()
    losses = {}

    def code():
        heard.append("ran")
        return losses["now"]

    calls = callback(code, most=100)
    for number in torch.randperm(8).tolist():
        drawn, path = _checkpoint(x, y), root / f"{len(told)}.pt"
        losses["now"] = loss = drawn["loss"]
        if number < 4:
            drawn["loss"] = calls.when_unpickled() if number < 2 else MadeByCode(loss)
        torch.save(drawn, path)
        try:
            answer = actor.call("load_checkpoint", path, *_theirs(_checkpoint(x, y)))
        except RemoteError as error:
            answer = error.type
        # To refuse a file is right, whatever it is called; to come to its loss is not.
        known = isinstance(answer, (tuple, list)) and loss in answer
        told.append(("loaded" if known else "not loaded") if number < 4 else answer)
    return {"code_ran": len(heard), "told": told}


def _losses(patience, gain, stops=True):
    """Draw losses, in 64ths so that sums are exact: four gains, each before losses that are none.

    The first of these falls short of a gain by nothing. The others go down: each is better than the
    one before it, but not than the best by more than ``gain``.
    """
    best, losses = 700, []
    for waited in (*torch.randint(patience, (3,)).tolist(), patience - (not stops)):
        best -= gain + int(torch.randint(1, 9, ()))
        others = torch.randint(best - gain, best + 30, (max(waited - 1, 0),))
        losses += [best, *[best - gain] * (waited > 0)]
        losses += others.sort(descending=True).values.tolist()
    return [loss / 64 for loss in (*losses, best - gain - 9)][: None if stops else -1]


def _stopped(losses, *options):
    """Tell the losses one after the other until training is to stop; then restore."""
    stopping, said = actor.keep("EarlyStopping", *options), []
    net = _net(torch.float32, ("nn.Linear", 1, 1), ("nn.BatchNorm1d", 1))
    for loss in losses:
        _fill(net)
        said.append(given("plain", actor.method(stopping, "step", loss, net, keep=True)))
        if said[-1]:
            break
    _fill(net)
    actor.method(stopping, "restore", net, keep=True)
    return said, given("plain", actor.attr(stopping, "best_loss", keep=True)), _state(net)


def stop(rule, *more):
    """Stop by patience, by least gains or at a NaN, for several patiences; and once not at all."""
    rounds = [(_losses(3, 0, stops=False), 3, *more)] if rule == "patience" else []
    for patience in (1 + torch.randperm(4)).tolist():
        gain = int(torch.randint(4, 33, ())) if rule == "gain" else 0
        losses, options = _losses(patience, gain), [gain / 64] if gain else more
        if rule == "nan":
            losses.insert(int(torch.randint(2, len(losses) - 1, ())), math.nan)
        rounds.append((losses, 9 if rule == "nan" else patience, *options))
    names = [f"series {number}, patience {one[1]}" for number, one in enumerate(rounds, 1)]
    said, *others = zip(*(_stopped(*one) for one in rounds), strict=True)
    # None may mean “go on” beside a True; alone it is no answer.
    if any(answer is not None for answers in said for answer in answers):
        said = [[bool(answer) for answer in answers] for answers in said]
    return {
        key: dict(zip(names, values, strict=True))
        for key, values in zip(("said", "best_loss", "restored"), (said, *others), strict=True)
    }


def _frozen(x, normed, mode):
    """Return a model whose backbone is to be frozen, and an optimiser of what is returned."""
    norm, last = ("nn.BatchNorm1d", 6) if normed else ("nn.Identity",), ("nn.Linear", 6, 1)
    # The head itself has a mode as its layers have: to set only theirs shows.
    kind = "_Moody" if normed else "nn.Sequential"
    head = _net(x.dtype, ("nn.Linear", 6, 6), norm, ("nn.Tanh",), last, kind=kind)
    backbone = _net(x.dtype, ("nn.Linear", x.shape[1], 6), norm, ("nn.Tanh",))
    model = _net(x.dtype, backbone, ("nn.Sequential", head))
    _fill(model)
    actor.method(model, "train", mode == "train", keep=True)
    # What a head may come with: frozen by an earlier attempt.
    actor.method(actor.item(head, 0, keep=True), "requires_grad_", False, keep=True)
    weights = actor.keep("freeze_backbone", model, head)
    return model, _build("optim.SGD", weights, lr=0.1, momentum=0.9, weight_decay=0.1)


def freeze(x, y, normed, mode):
    """Freeze, and train a little with what is returned."""
    model, optimizer = _frozen(x, normed, mode)
    given("descend", model, optimizer, x, y)
    state = _state(model).items()
    backbone = {name: value for name, value in state if name.startswith("0.")}
    return {"backbone": backbone, "head": {name: v for name, v in state if name not in backbone}}


def freeze_for_all(x, y):
    """Freeze, and train with all weights: those move that may. Then unfreeze, and train again."""
    model, optimizer = _frozen(x, False, "train")
    # Other numbers: it counts what may move, not what was moved.
    _fill(model)
    given("descend", model, _optimizer("optim.SGD", model, lr=0.1, weight_decay=0.1), x, y)
    state = _state(model)
    actor.method(model, "requires_grad_", True, keep=True)
    _fill(model)
    given("descend", model, optimizer, x, y)
    # A momentum for each weight, by its place in what was returned.
    return {"all": state, "momenta": _state(optimizer)["state"]}


def _scalars(root):
    """Return the steps and values of every tag in TensorBoard's event files."""
    from tensorboard.backend.event_processing import event_accumulator  # noqa: PLC0415

    sizes = {"scalars": 0, "tensors": 0}
    events = event_accumulator.EventAccumulator(str(root), sizes).Reload()
    found = {tag: events.Scalars(tag) for tag in events.Tags()["scalars"]}
    return {
        "steps": {tag: [one.step for one in scalars] for tag, scalars in found.items()},
        "values": {tag: [one.value for one in scalars] for tag, scalars in found.items()},
    }


def log(history):
    """Log, and read the file while the writer is still open."""
    root = folder(write=True)
    writer = given("writer", str(root), keep=True)
    actor.call("log_training", writer, history)
    return {**read(_scalars, root), "open": given("is_open", writer)}


def _records(data):
    """Give the records of LevelDB's log format, in blocks of 32 KiB, behind seven bytes of W&B's.

    https://github.com/google/leveldb/blob/main/doc/log_format.md
    """
    place, record = 7, b""
    while place + 7 <= len(data):
        # No piece begins where fewer than seven bytes of a block are left.
        place += left if (left := -place % 32768) < 7 else 0
        length, kind = struct.unpack_from("<HB", data, place + 4)
        record += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in {1, 4}:
            yield record
            record = b""


def _run(root):
    """Return the settings and the steps of an offline run of Weights & Biases."""
    from wandb.proto.wandb_internal_pb2 import Record  # noqa: PLC0415  an optional package

    (file,), config, steps = root.glob("wandb/offline-run-*/*.wandb"), {}, []
    for data in _records(file.read_bytes()):
        record = Record.FromString(data)
        for update in (*record.run.config.update, *record.config.update):
            config[update.key] = json.loads(update.value_json)
        if record.HasField("history"):
            items = {one.key or ".".join(one.nested_key): one for one in record.history.item}
            shown = {key: json.loads(one.value_json) for key, one in items.items() if key[0] != "_"}
            steps.append((record.history.step.num, shown))
    return {"config": {k: v for k, v in config.items() if k != "_wandb"}, "steps": steps}


def log_offline(config, history):
    """Log a run, and read the file that it left."""
    root = folder(write=True)
    given("log_offline", actor.module, str(root), config, history)
    return read(_run, root)


def _search(space, seed, losses):
    """Search once; return what was tried, in order, and the result."""
    tried = []

    def loss(config):
        tried.append({**{name: config[name] for name in space}, **config})
        return losses[len(tried) % len(losses) - 1]

    train_fn = given("train_fn", callback(loss, most=10 * len(losses)), keep=True)
    found = actor.keep("search", space, train_fn, len(losses), seed)
    return tried, given("plain", found)


def search(space, samples, seed):
    """Search three times: two times with one seed, and once with another."""

    def are(loss, other):
        return isinstance(loss, float) and math.isclose(loss, other, rel_tol=1e-6)  # in float32 too

    failed = torch.rand(samples) < 1 / 3
    failed[[0, -1]] = True
    losses = torch.rand(samples, dtype=torch.float64).where(~failed, math.nan).tolist()
    tried, result = _search(space, seed, losses)
    if result is None:
        return None
    again, other = (_search(space, one, losses)[0] for one in (seed, seed + 1))
    (config, loss), known = result, [value for value in losses if not math.isnan(value)]
    found = [value for one, value in zip(tried, losses, strict=False) if one == config]
    (low, high), lists = space["lr"], ("hidden", "batch_size")
    different = len({tuple(sorted(one.items())) for one in tried})
    return {
        # The same few again and again are no more than these few.
        "tried": len(tried) if different > samples / 4 else different,
        "inside": all(
            low <= one["lr"] <= high and all(one[name] in space[name] for name in lists)
            for one in tried
        ),
        # One of them, whichever, and in whatever order.
        "returned": any(one in tried or any(are(one, v) for v in known) for one in result),
        "best": are(loss, min(known)),
        "its_config": any(are(loss, value) for value in found),
        "same_again": tried == again,
        "other_seed": tried != other,
    }


def search_widely(space, samples, seed):
    """Search once: all choices are to come, and as many rates below √(low·high) as above."""
    tried, _ = _search(space, seed, torch.rand(samples).tolist())
    (low, high), rates = space["lr"], sorted(config["lr"] for config in tried)
    middle = math.log(rates[len(rates) // 2] / low) / math.log(high / low)
    counts = [sum(one["hidden"] == value for one in tried) for value in space["hidden"]]
    pairs, wide = {(one["hidden"], one["batch_size"]) for one in tried}, rates[-1] > high / 4
    return {
        # Near the lower end, too: uniform rates may come there or not, so “spread” asks less.
        "logarithmic": 0.3 < middle < 0.7 and rates[0] < 4 * low,
        "all_choices": min(counts) >= len(tried) / 6 and len(pairs) == 6,
        "spread": len({*rates}) > len(tried) / 2 and rates[0] < high / 10 and wide,
    }


def trials(saved, metric):
    """Write down what Ray Tune saves, and ask for the best."""
    root = folder()
    for name, config, reports in saved:
        (root / name).mkdir()
        (root / name / "params.json").write_text(json.dumps(config))
        if reports:
            lines = "".join(json.dumps({**one, "config": config}) + "\n" for one in reports)
            (root / name / "result.json").write_text(lines)
    (root / "experiment_state.json").write_text("{}")
    result = actor.call("best_trial", str(root), metric)
    return result and {"config": result[0], "value": result[1]}
