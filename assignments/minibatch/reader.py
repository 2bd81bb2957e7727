"""Reads the files that a hand-in left, in a guest of its own, where no hand-in is.

What was tried in a search comes here too: whether it is what was asked for is said where no hand-in
can put words of its own under the names that say it.
"""

from __future__ import annotations

import json
import math
import struct

import torch

from grader.guest.api import unpack


def checkpoint(file):
    """Return the items of a checkpoint that were asked for."""
    state = torch.load(unpack(file), weights_only=True)
    wanted = ("epoch", "loss", "model_state_dict", "optimizer_state_dict")
    return {name: state[name] for name in wanted if name in state}


def scalars(files):
    """Return the steps and values of every tag in TensorBoard's event files."""
    from tensorboard.backend.event_processing import event_accumulator  # noqa: PLC0415

    found: dict[str, list[tuple[int, float]]] = {}
    for file in files:
        events = event_accumulator.EventAccumulator(str(unpack(file)), {"scalars": 0, "tensors": 0})
        events.Reload()
        for tag in events.Tags()["scalars"]:
            found.setdefault(tag, []).extend((one.step, one.value) for one in events.Scalars(tag))
    return {
        "steps": {tag: [step for step, _ in pairs] for tag, pairs in found.items()},
        "values": {tag: [value for _, value in pairs] for tag, pairs in found.items()},
    }


def run(files):
    """Return the settings and the steps of an offline run of Weights & Biases."""
    from wandb.proto import wandb_internal_pb2  # noqa: PLC0415  an optional package

    config, steps = {}, []
    for file in files:
        for data in _records(file.data):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(data)
            for update in (record.run.config, record.config):
                config |= {one.key: json.loads(one.value_json) for one in update.update}
            if record.HasField("history"):
                items = {
                    one.key or ".".join(one.nested_key): json.loads(one.value_json)
                    for one in record.history.item
                }
                step = items.pop("_step", record.history.step.num)
                steps.append((step, {k: v for k, v in items.items() if not k.startswith("_")}))
    return {"config": {k: v for k, v in config.items() if k != "_wandb"}, "steps": steps}


_BLOCK = 32768
_WHOLE, _LAST = 1, 4


def _records(data):
    """Give the records of a run's file: LevelDB's log format, behind seven bytes of W&B's own.

    Blocks of 32 KiB hold pieces: checksum, length, kind (a whole record, or its first, middle or
    last piece), content. No piece begins where fewer than seven bytes of a block are left.
    https://github.com/google/leveldb/blob/main/doc/log_format.md
    """
    place, pieces = 7, []
    while place + 7 <= len(data):
        left = _BLOCK - place % _BLOCK
        if left < 7:
            place += left
            continue
        length, kind = struct.unpack_from("<HB", data, place + 4)
        pieces.append(data[place + 7 : place + 7 + length])
        place += 7 + length
        if kind in {_WHOLE, _LAST}:
            yield b"".join(pieces)
            pieces = []


_CHOICES = {"hidden": (8, 16, 32), "batch_size": (1024, 2048)}
_LOW, _HIGH = 1e-4, 1e-1
"""The space of ``choices`` in the reference: all others come from hand-ins."""


def _loss(config):
    """As in scenario.py."""
    if config["hidden"] == 32:
        return math.nan
    return abs(math.log(config["lr"] / 0.003)) + abs(config["hidden"] - 16) / 8


def _inside(config):
    chosen = all(config.get(name) in values for name, values in _CHOICES.items())
    return chosen and len(config) == 3 and _LOW <= config.get("lr", 0) <= _HIGH


def _are(loss, other):
    """Tell whether two losses are one; single precision is precise enough."""
    if not isinstance(loss, float):
        return False
    return math.isclose(loss, other, rel_tol=1e-6) or (math.isnan(loss) and math.isnan(other))


def searched(file):
    """Return what follows from the configurations tried, and from what was returned."""
    notes = json.loads(bytes(file.data))
    tried, (config, loss) = notes["tried"], notes["returned"]
    losses = [_loss(one) for one in tried]
    least = min((value for value in losses if not math.isnan(value)), default=None)
    found = [value for one, value in zip(tried, losses, strict=True) if one == config]
    return {
        "tried": len(tried),
        "inside": all(map(_inside, tried)),
        # One of them, whichever, and in whatever order; or there was none to be found.
        "returned": least is None
        or any(one in tried or any(_are(one, value) for value in losses) for one in (config, loss)),
        "best": least is not None and _are(loss, least),
        "its_config": any(_are(loss, value) and not math.isnan(value) for value in found),
        "same_again": tried == notes["again"],
        "other_seed": tried != notes["other"],
    }


def searched_widely(file):
    """Return how the values lie: all choices, and as many below √(low·high) as above."""
    tried = json.loads(bytes(file.data))["tried"]
    rates = sorted(config["lr"] for config in tried)
    middle = math.log(rates[len(rates) // 2] / _LOW) / math.log(_HIGH / _LOW)
    counts = [sum(one["hidden"] == value for one in tried) for value in _CHOICES["hidden"]]
    pairs = {(one["hidden"], one["batch_size"]) for one in tried}
    return {
        "logarithmic": 0.3 < middle < 0.7,
        "all_choices": min(counts) >= len(tried) / 6 and len(pairs) == 6,
        "spread": (
            len(set(rates)) > len(tried) / 2 and rates[0] < 4 * _LOW and rates[-1] > _HIGH / 4
        ),
    }
