"""Runs in the stage: draws what must not be foreseen, and works out what follows from the answers.

What needs the submission beside it (models, gradients, GPUs watched, processes started) stands in
``given.py``. The reports on GPUs that come from there are claims; the numbers are facts, since they
follow from weights, inputs and durations that are drawn for each case.
"""

from __future__ import annotations

import html
import random
import re
from itertools import chain
from xml.etree import ElementTree as ET

import torch

from grader.scenario_process import actor, callback, caller, folder, given, read, repeated
from grader.vgpu.timeline import TimeKeeper

_GPUS = 3


def toy_model(x, labels, w1, b1, w2, b2, device):
    """Run a ToyModel with weights of the case; its numbers are those of one device."""
    weights = {"net1.weight": w1, "net1.bias": b1, "net2.weight": w2, "net2.bias": b2}
    answer = given("toy_model", actor.module, x, labels, weights, device)
    leaves = {"x": x, "labels": labels, **weights}
    return repeated(answer, leaves, {"output": answer["outputs"]}, _GPUS, "forward")


def training(x, labels, w1, w2, device, devices):
    """Make three training steps with a model over two GPUs."""
    answer = given("training", actor.module, x, labels, w1, w2, device, devices)
    leaves = {"x": x, "labels": labels, "w1": w1, "w2": w2}
    outputs = {f"output[{name}]": weight for name, weight in answer["weights"].items()}
    return repeated(answer, leaves, outputs, _GPUS, "steps")


_NUMBERS = 4099
"""From which the weights of a ResNet-50 are made. A prime: no two rows of one are the same."""


def resnet(images):
    """Run a ModelParallelResNet50 with weights drawn for the case."""
    drawn = torch.randn(_NUMBERS)
    answer = given("resnet", actor.module, images, drawn)
    leaves = {"images": images, "drawn": drawn}
    return repeated(answer, leaves, {"output": answer["outputs"]}, _GPUS, "forward")


_SLOWED = 0.01
"""Of small images, what a card of this speed does is as long as a real one's work on large ones."""


def pipeline(images, split_size, card):
    """Run a PipelineParallelResNet50 with weights drawn for the case; with a card, train it too.

    Values and times come from one log: what keeps GPUs busy is what gives the right scores.
    """
    drawn = torch.randn(_NUMBERS)
    labels = torch.zeros(len(images), 1000) if card else None
    answer = given("pipeline", actor.module, images, split_size, drawn, labels)
    leaves = {"images": images, "drawn": drawn, **({"labels": labels} if card else {})}
    parts = ["watched", "forward", "step"] if card else ["watched"]
    timed = (card, _SLOWED) if card else None
    return repeated(answer, leaves, {"output": answer["outputs"]}, _GPUS, *parts, card=timed)


def averaged(x, labels, w1, b1, w2, devices):
    """Average gradients over devices."""
    answer = given("averaged", actor.module, x, labels, w1, b1, w2, devices)
    leaves = {"x": x, "labels": labels, "w1": w1, "b1": b1, "w2": w2}
    outputs = {f"output[{name}]": gradient for name, gradient in answer["gradients"].items()}
    return repeated(answer, leaves, outputs, _GPUS, "work")


def data_parallel(x, labels, w1, b1, w2):
    """Run a model over all GPUs."""
    answer = given("data_parallel", actor.module, x, labels, w1, b1, w2)
    leaves = {"x": x, "labels": labels, "w1": w1, "b1": b1, "w2": w2}
    return repeated(answer, leaves, {"output": answer["outputs"]}, _GPUS, "forward")


# -- processes -------------------------------------------------------------------------------------


def pooled(count, processes, wanted):
    """Map over places whose results are known here alone; the kernel says who asked for them."""
    results = [random.randrange(2**40) for _ in range(count)]
    asked_by = []

    def tell(place):
        asked_by.append(caller())
        return results[place]

    first = []
    given("call", callback(lambda: first.append(caller()), most=1))
    answered = given(
        "pooled", actor.module, callback(tell, most=4 * count, gather=wanted), count, processes
    )
    # What the first process does is done by none of its workers, whoever else has asked.
    workers = set() if first[0] in asked_by else set(asked_by)
    return {**answered, "workers": len(workers)}


def distributed_training(x, labels, world_size, epochs, batch_size, lr):
    """Train in processes, and do here again what they say they did.

    Which samples a process saw, in which order, is its own word; it counts only where training
    in that order leads to the weights that each process has. Two trainings, one after the other in
    the same processes: the second is possible only if the first has left its group.
    """
    trainings, told = 2, []
    weights = torch.randn(trainings, world_size, x.shape[1], 1)

    def begins_with(training, rank):
        # To one process, once: the others have the first one's weights from the first one alone.
        if (training, rank) in told:
            raise RuntimeError("these weights were told before")
        told.append((training, rank))
        return weights[training, rank]

    ask = callback(begins_with, most=trainings * world_size)
    settings = {"epochs": epochs, "batch_size": batch_size, "lr": lr}
    ranks = given("distributed_training", actor.module, x, labels, ask, world_size, settings)
    seen = [rank["first"]["seen"] for rank in ranks]
    orders = [[_epoch(batches, epoch, epochs) for batches in seen] for epoch in range(epochs)]
    second = [rank["second"] for rank in ranks]
    failed = [problem for problem in second if isinstance(problem, str)]
    return {
        "weights_off_by": _difference(
            [rank["first"] for rank in ranks], weights[0, 0], x, labels, lr
        ),
        "seen": [sorted(chain.from_iterable(order)) for order in orders],
        "batches": [[len(batch) for batch in batches] for batches in seen],
        "order_changes": orders[0] != orders[-1],
        "second_training_off_by": failed[0]
        if failed
        else _difference(second, weights[1, 0], x, labels, lr),
    }


def _epoch(batches, epoch, epochs):
    """Return the samples that one process saw in one of its epochs."""
    samples = list(chain.from_iterable(batches))
    share = len(samples) // epochs
    return samples[epoch * share : (epoch + 1) * share]


def _difference(ranks, start, x, labels, lr):
    """Return what the weights of each process lack to those of averaged steps on its batches."""
    weight = start
    for batches in zip(*(rank["seen"] for rank in ranks), strict=True):
        gradients = [_gradient(weight, x[batch], labels[batch]) for batch in batches]
        weight = weight - lr * torch.stack(gradients).mean(dim=0)
    return torch.stack([torch.tensor(rank["weight"]) - weight for rank in ranks])


def _gradient(weight, x, labels):
    """Return the gradient of the loss that given.py has, for outputs ``x @ weight``."""
    return 4 * x.T @ (2 * x @ weight - labels) / labels.numel()


# -- time ------------------------------------------------------------------------------------------

_WORK = 2**30
"""Bytes of a kernel whose duration is drawn: what ``given._Busy`` works on, and nothing else."""


def timed_training(repeats, busy):
    """Time a training whose calls last as long as was drawn; the first one takes longest."""
    drawn = [random.randrange(400, 900), *random.sample(range(10, 90), repeats)]
    calls = {f"cuda:{device}": [] for device in range(2)}

    def lasts(device, size):
        if size < _WORK:
            return None
        number = len(calls[device])
        calls[device].append(size)
        return drawn[min(number, repeats)] / 1e3 if device == f"cuda:{busy}" else 1e-3

    keeper = TimeKeeper("v100", lasts)
    ask = callback(keeper.tell, most=10_000)
    mean, deviation = given("timed_training", actor.module, ask, repeats)
    return {"mean": mean, "deviation": deviation, "calls": len(calls["cuda:0"])}


def swept(candidates, tie, repeats):
    """Sweep over split sizes whose times are drawn; told one at a time, when they are asked for."""
    means = random.sample(range(200, 500), len(candidates))
    if tie:
        least, other = random.sample(range(len(means)), 2)
        means[least] = means[other] = 150
    # One deviation for all: between equal means it must not decide.
    deviation = random.randrange(100) / 1000
    times = {size: (mean / 100, deviation) for size, mean in zip(candidates, means, strict=True)}
    asked = []

    def tell(size, repeats):
        asked.append(repeats)
        return times[size]

    ask = callback(tell, most=4 * len(candidates))
    best, timings = given("sweep", actor.module, ask, candidates, repeats)
    timings = {
        str(size): [float(part) for part in timing] for size, timing in sorted(timings.items())
    }
    return {"best": best, "timings": timings, "repeats": asked}


# -- pictures --------------------------------------------------------------------------------------


def plotted(labels, name):
    """Let bars be drawn whose heights are drawn here; see what is on the picture."""
    given("plain_svg")
    means = [random.randrange(100, 500) / 100 for _ in labels]
    stds = [random.randrange(5, 40) / 100 for _ in labels]
    path = folder(write=True) / name
    actor.call("plot_times", means, stds, labels, str(path))
    return read(bars_of if name.endswith(".svg") else kind_of, path)


def kind_of(path):
    """Return the kind of a picture that is one, and is not blank."""
    from PIL import Image  # noqa: PLC0415  one question needs it

    if not path.is_file():
        return {"file": "no file"}
    try:
        with Image.open(path) as picture:
            picture.load()
            colours = picture.convert("RGB").getcolors(maxcolors=2**24)
            kind = picture.format.lower()
    except (OSError, ValueError):
        return {"file": "svg" if b"<svg" in path.read_bytes()[:512] else "neither png nor svg"}
    return {"file": kind if len(colours) > 2 else f"a blank {kind}"}


_NOTHING = {"bars": torch.zeros(0), "error_bars": torch.zeros(0, 2), "labels": {}}


def bars_of(path):
    """Return what is on matplotlib's drawing: heights, ends of error bars, names.

    Bars are closed paths that the axes clip, error bars lines of two points above one another.
    Heights are read off at the marks of the axis.
    """
    if not path.is_file() or b"<svg" not in path.read_bytes()[:512]:
        return {**kind_of(path), **_NOTHING}
    parser = ET.XMLParser(target=ET.TreeBuilder(insert_comments=True))  # noqa: S314  in a process of its own
    root = ET.parse(path, parser).getroot()  # noqa: S314  likewise
    axes = [group for group in _groups(root, "axes_") if _clipped(group, "patch_")]
    if not axes:
        return {"file": "svg", **_NOTHING}
    height = _scale(axes[0])
    bars = sorted((points for points in _clipped(axes[0], "patch_") if len(points) > 2), key=min)
    errors = sorted(
        points
        for points in _clipped(axes[0], "LineCollection_")
        if len(points) == 2 and abs(points[0][0] - points[1][0]) < 1e-3
    )
    tops = [max(height(y) for _, y in bar) - min(height(y) for _, y in bar) for bar in bars]
    ends = [sorted(height(y) for _, y in error) for error in errors]
    written = [_text(mark) for mark in _groups(axes[0], "xtick_")]
    names = [_text(group) for group in _groups(axes[0], "matplotlib.axis_2")[0]
             if group.get("id", "").startswith("text_")]  # fmt: skip
    return {
        "file": "svg",
        "bars": torch.tensor(tops, dtype=torch.float64),
        "error_bars": torch.tensor(ends, dtype=torch.float64).reshape(-1, 2),
        "labels": {"below": [*filter(None, written)], "axis_says_something": any(names)},
    }


def _groups(node, name):
    return [group for group in node.iter() if str(group.get("id", "")).startswith(name)]


def _clipped(axes, name):
    """Return the points of the paths in groups of a name that the axes clip."""
    paths = [path for group in _groups(axes, name) for path in group.iter()
             if str(path.tag).endswith("}path") and path.get("clip-path")]  # fmt: skip
    found = [re.findall(r"[ML] (-?[\d.]+) (-?[\d.]+)", path.get("d", "")) for path in paths]
    return [[(float(x), float(y)) for x, y in points] for points in found]


def _scale(axes):
    """Return what turns a place on the drawing into a number on the vertical axis."""
    marks = []
    for mark in _groups(axes, "ytick_"):
        places = [float(node.get("y")) for node in mark.iter()
                  if str(node.tag).endswith("}use") and node.get("y")]  # fmt: skip
        if places:
            marks.append((places[0], float(_text(mark).replace("\N{MINUS SIGN}", "-"))))
    (low, least), (high, most) = min(marks), max(marks)
    return lambda y: least + (y - low) * (most - least) / (high - low)


def _text(group):
    """Return the text in a group; where it is drawn as outlines, a comment has it."""
    texts = [node for node in group.iter() if str(node.tag).endswith("}text")]
    notes = [node for node in group.iter() if node.tag is ET.Comment]
    return html.unescape(" ".join("".join(node.itertext()) for node in texts or notes)).strip()
