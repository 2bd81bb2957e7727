"""Reads the files that a hand-in left, in a guest of its own, where no hand-in is."""

from __future__ import annotations

import json
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
