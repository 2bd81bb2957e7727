"""Runs in the actor, beside the submission: what cannot live in another process.

Models, optimisers and losses, since autograd is local; GPUs watched; processes started. Each
question gets models of its own, so that a mistake costs one question.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import socket
import time
import warnings
from contextlib import contextmanager

import torch
import torch._dynamo  # what an optimiser's first step imports: once here, not in each process
from torch import nn

from grader.student_process.api import logged, placement, watching
from grader.vgpu.processes import in_ranks
from grader.vgpu.timeline import TimedElsewhere

# -- models over two GPUs --------------------------------------------------------------------------


def _named(log, leaves):
    """Give the tensors of a case their names in a log."""
    for name, tensor in leaves.items():
        log.leaf(name, tensor)


@contextmanager
def _part(log, name, inputs):
    """Watch a part of the course, in which outputs are computed; they go into the list."""
    outputs = []
    log.begin(name, *inputs)
    with watching() as seen:
        yield outputs, seen
    log.end(name, outputs[0])


def _log_or_claims(log, claims):
    """Return a log; on real GPUs, where nothing is written down, what was watched instead."""
    return {"log": log.as_values(), "claims": {} if log else claims}


def toy_model(student, x, labels, weights, device):
    """Run a ToyModel with these weights forward and backward, and make a step of SGD.

    Args:
        student: The submitted module.
        x: The inputs.
        labels: Compared with the outputs where those are.
        weights: The model's state.
        device: Where the inputs are when the model gets them.
    """
    with logged() as log:
        _named(log, {"x": x, "labels": labels, **weights})
        model = student.ToyModel()
        if missing := model.load_state_dict(weights, strict=False).missing_keys:
            raise KeyError(f"ToyModel has no {', '.join(missing)}")
        x = x.to(device)
        with _part(log, "forward", ["x"]) as (made, seen):
            outputs = model(x)
            made.append(outputs)
        nn.MSELoss()(outputs, labels.to(outputs.device)).backward()
        own = {name: each for name, each in model.named_parameters() if name in weights}
        log.place(model)
        for name, parameter in own.items():
            log.output(name, parameter.grad)
    result = {
        "outputs": outputs,
        "gradients": {name: parameter.grad for name, parameter in own.items()},
        **_log_or_claims(log, {"forward": seen.report, "placement": placement(model, outputs)}),
    }
    torch.optim.SGD(model.parameters(), lr=0.25).step()
    return {**result, "updated": {name: own[name].detach() for name in weights}}


def _loss(outputs, labels):
    # Not the same with outputs and labels exchanged.
    return ((2 * outputs - labels) ** 2).mean()


class _Halves(nn.Module):
    """A model over two GPUs that is right whatever the submission's is."""

    def __init__(self, w1, w2, devices):
        super().__init__()
        self.first = nn.Parameter(w1.to(devices[0]))
        self.second = nn.Parameter(w2.to(devices[1]))

    def forward(self, x):
        hidden = torch.tanh(x.to(self.first.device) @ self.first)
        return hidden.to(self.second.device) @ self.second


def training(student, x, labels, w1, w2, device, devices):
    """Make three training steps; return the losses and the weights.

    Args:
        student: The submitted module.
        x: Inputs of three steps, one behind the other.
        labels: Likewise.
        w1: Weights of the first half.
        w2: Weights of the second half.
        device: Where inputs and labels are.
        devices: Where the halves are.
    """
    with logged() as log:
        _named(log, {"x": x, "labels": labels, "w1": w1, "w2": w2})
        model = _Halves(w1, w2, devices)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.125, momentum=0.5)
        x, labels = x.to(device), labels.to(device)
        with _part(log, "steps", ["x", "labels"]) as (made, seen):
            losses = [
                student.train_step(model, _loss, optimizer, inputs, wanted)
                for inputs, wanted in zip(x, labels, strict=True)
            ]
            weights = {"first": model.first.detach(), "second": model.second.detach()}
            made.append(weights)
    claims = {"steps": seen.report, "placement": placement(model)}
    return {"losses": losses, "weights": weights, **_log_or_claims(log, claims)}


# -- ResNet-50 -------------------------------------------------------------------------------------


@contextmanager
def _undrawn():
    """Let layers begin with whatever is in memory: 25 million weights take a second to draw."""
    kept = {name: getattr(nn.init, name) for name in ("kaiming_normal_", "kaiming_uniform_")}
    for name in kept:
        setattr(nn.init, name, lambda tensor, *_, **__: tensor)
    try:
        yield
    finally:
        for name, function in kept.items():
            setattr(nn.init, name, function)


class _Filler:
    """Gives each layer weights of its own in the order in which the layers run.

    By that order and not by name: a network cut into ``nn.Sequential`` slices has other names.

    Args:
        model: A ResNet-50.
        images: To run it once.
        drawn: Numbers from which all weights are made.

    Attributes:
        layers: In the order in which they run.
    """

    def __init__(self, model, images, drawn):
        self.layers = []
        self._drawn = drawn
        self._count = 0
        kinds = (nn.Conv2d, nn.BatchNorm2d, nn.Linear)
        layers = [module for module in model.modules() if isinstance(module, kinds)]
        hooks = [layer.register_forward_pre_hook(self._fill) for layer in layers]
        with torch.no_grad():
            model(images)
        for hook in hooks:
            hook.remove()

    def _fill(self, layer, _):
        if layer in self.layers:
            return
        self.layers.append(layer)
        if isinstance(layer, nn.BatchNorm2d):
            self._draw(layer.weight, 0.1, 0.75)
            self._draw(layer.running_mean, 0.1)
            self._draw(layer.running_var, 0.2, 1.0)
        else:
            self._draw(layer.weight, (2 / layer.weight[0].numel()) ** 0.5)
        if layer.bias is not None:
            self._draw(layer.bias, 0.1)

    def _draw(self, tensor, scale, shift=0.0):
        # As many numbers as a prime: no two rows of a weight are the same, nor two weights.
        self._count += 1
        values = self._drawn.roll(self._count).clamp(-2, 2) * scale + shift
        times = -(-tensor.numel() // len(values))
        tensor.copy_(values.repeat(times)[: tensor.numel()].view(tensor.shape))


def resnet(student, images, drawn):
    """Run a ModelParallelResNet50 in eval mode, forward and backward."""
    with logged() as log:
        _named(log, {"images": images, "drawn": drawn})
        with _undrawn():
            model = student.ModelParallelResNet50()
        model.eval()
        images = images.to("cuda:0")
        stem = _Filler(model, images, drawn).layers[0]
        gc.collect()
        with _part(log, "forward", ["images"]) as (made, seen):
            outputs = model(images)
            made.append(outputs)
        log.place(model)
    (outputs**2).mean().backward()
    return {
        "outputs": outputs,
        "gradient": {"of the first layer": stem.weight.grad},
        **_log_or_claims(log, {"forward": seen.report, "placement": placement(model, outputs)}),
    }


def pipeline(student, images, split_size, drawn, labels):
    """Run a PipelineParallelResNet50 in eval mode, then make one step of training.

    In training mode batch normalisation sees one part at a time. The mean of the parts' variances
    shows how the batch was cut, in whatever order the parts were taken.

    Args:
        student: The submitted module.
        images: A batch.
        split_size: Of its parts.
        drawn: Numbers from which all weights are made.
        labels: Compared with the scores in training; None for no step.
    """
    with logged() as log:
        _named(log, {"images": images, "drawn": drawn})
        if labels is not None:
            _named(log, {"labels": labels})
        with _undrawn():
            model = student.PipelineParallelResNet50(split_size)
        model.eval()
        images = images.to("cuda:0")
        norm = _Filler(model, images, drawn).layers[1]
        gc.collect()
        with _part(log, "watched", ["images"]) as (made, seen), torch.no_grad():
            outputs = model(images)
            made.append(outputs)
        log.place(model)
        placed = placement(model, outputs)
        # Without momentum the running statistics are plain means over all parts.
        norm.momentum = None
        norm.reset_running_stats()
        model.train()
        if labels is None:
            with torch.no_grad():
                model(images)
        else:
            _train_once(model, images, labels, norm, log)
    return {
        "outputs": outputs,
        "running_var": norm.running_var,
        **_log_or_claims(log, {"watched": seen.report, "placement": placed}),
    }


def _train_once(model, images, labels, norm, log):
    """Make a step of training in two parts; what a step changes is too much to compare."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    log.begin("forward", "images")
    scores = model(images)
    log.end("forward", {"scores": scores, "running_var": norm.running_var})
    log.begin("step", "images")
    nn.MSELoss()(scores, labels.to(scores.device)).backward()
    optimizer.step()
    log.end("step", {"weight": norm.weight}, model.parameters())


# -- one batch over several GPUs -------------------------------------------------------------------


def _network(w1, b1, w2):
    model = nn.Sequential(nn.Linear(*w1.T.shape), nn.Tanh(), nn.Linear(*w2.T.shape, bias=False))
    model.load_state_dict({"0.weight": w1, "0.bias": b1, "2.weight": w2})
    return model


def averaged(student, x, labels, w1, b1, w2, devices):
    """Average gradients over devices; other gradients were there before."""
    with logged() as log:
        _named(log, {"x": x, "labels": labels, "w1": w1, "b1": b1, "w2": w2})
        model = _network(w1, b1, w2).to(devices[0])
        for parameter in model.parameters():
            parameter.grad = torch.full_like(parameter, 8.0)
        with _part(log, "work", ["x", "labels"]) as (made, seen):
            loss = student.average_gradients(model, _loss, x, labels, devices)
            made.append({name: parameter.grad for name, parameter in model.named_parameters()})
        log.place(model)
    return {
        "loss": loss,
        "gradients": {name: parameter.grad for name, parameter in model.named_parameters()},
        "weights": {name: parameter.detach() for name, parameter in model.named_parameters()},
        **_log_or_claims(log, {"work": seen.report, "placement": placement(model)}),
    }


def data_parallel(student, x, labels, w1, b1, w2):
    """Run a model over all GPUs, forward and backward."""
    with logged() as log:
        _named(log, {"x": x, "labels": labels, "w1": w1, "b1": b1, "w2": w2})
        model = _network(w1, b1, w2)
        parallel = student.to_data_parallel(model)
        with _part(log, "forward", ["x"]) as (made, seen):
            outputs = parallel(x)
            made.append(outputs)
        _loss(outputs, labels.to(outputs.device)).backward()
        log.place(model)
        for name, parameter in model.named_parameters():
            log.output(name, parameter.grad)
    return {
        "outputs": outputs,
        "gradients": {name: parameter.grad for name, parameter in model.named_parameters()},
        **_log_or_claims(log, {"forward": seen.report, "placement": placement(model, outputs)}),
    }


# -- processes -------------------------------------------------------------------------------------

_PATIENCE = 5.0
"""Seconds that is waited for processes to end, far longer than honest ones take."""

_ask = []
"""The function that tells results. Here, and not among the work: other processes inherit it."""


def slow_start(place):
    """Get the result for a place; the first one takes longest."""
    result = _ask[0](place)
    time.sleep(0.2 if place == 0 else 0.02)
    return result


def pooled(student, ask, count, processes):
    """Map over places in several processes; return the results, and whether a process is left."""
    _ask[:] = [ask]
    kwargs = {} if processes is None else {"processes": processes}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ResourceWarning)
        results = student.pool_map(slow_start, list(range(count)), **kwargs)
        # At once: a pool that is closed and not joined ends by itself some milliseconds later.
        left = multiprocessing.active_children()
        gc.collect()
    unclosed = any(issubclass(item.category, ResourceWarning) for item in warned)
    # A warning holds the pool that it is about. Held, it replaces workers that end; let go, it ends
    # and joins them.
    warned.clear()
    end = time.monotonic() + _PATIENCE
    while multiprocessing.active_children() and time.monotonic() < end:
        time.sleep(0.01)
    for child in multiprocessing.active_children():
        child.kill()
    return {"results": results, "left_open": bool(left) or unclosed}


def call(function):
    """Call a function from the submission's first process."""
    return function()


class _Recorder(nn.Module):
    """A linear model that notes which samples it sees; each begins with its number."""

    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.seen = []

    def forward(self, x):
        self.seen.append([int(number) for number in x[:, 0]])
        return x[:, 1:] @ self.weight


def _train(student, rank, world_size, weight, x, labels, settings):
    """Run one worker; return the weight that its model ends with, and what it has seen."""
    numbered = torch.cat([torch.arange(len(x), dtype=x.dtype)[:, None], x], dim=1)
    model = _Recorder(weight)
    dataset = torch.utils.data.TensorDataset(numbered, labels)
    student.ddp_worker(rank, world_size, model, dataset, _loss, **settings)
    return {"weight": model.weight.detach().tolist(), "seen": model.seen}


def distributed_training(student, x, labels, begins_with, world_size, settings):
    """Train in real processes that talk to one another, then once more in the same processes.

    Args:
        student: The submitted module.
        x: Samples.
        labels: Their labels.
        begins_with: Tells a process its first weight, by number of training and rank.
        world_size: Number of processes.
        settings: Of the training; one epoch is enough the second time.

    Returns:
        For each process the first training, and the second or why there was none.
    """
    ports = [_free_port(), _free_port()]

    def train(number, rank, settings):
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(ports[number]))
        weight = begins_with(number, rank)
        return _train(student, rank, world_size, weight, x, labels, settings)

    def work(rank):
        first = train(0, rank, settings)
        try:
            second = train(1, rank, {**settings, "epochs": 1})
        except Exception as error:  # noqa: BLE001  a group that was never left, most likely
            second = f"{type(error).__name__}: {error}"[:300]
        return {"first": first, "second": second}

    return in_ranks(world_size, work, student.__file__)


def _free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


# -- time ------------------------------------------------------------------------------------------


class _Busy(nn.Module):
    """Keeps two GPUs busy, and returns before they are done. For how long, the stage knows."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(2**28, device="cuda:0"))
        self.other = torch.empty(2**28, device="cuda:1")

    def work(self):
        """Let both GPUs work once."""
        for tensor in (self.weight.data, self.other):
            tensor.add_(1.0)


def timed_training(student, ask, repeats):
    """Time a training by clocks that the stage reads."""

    def train(model, *_, **__):
        model.work()

    def make():
        # A large model takes time to make: what is not to be measured.
        torch.empty(2**24).to("cuda:0")
        return _Busy()

    student.train = train
    with TimedElsewhere(ask, clocks=[student]):
        mean, deviation = student.time_training(make, repeats)
    return float(mean), float(deviation)


def sweep(student, ask, candidates, repeats):
    """Sweep over split sizes with timings that the stage gives."""

    class Made:
        def __init__(self, split_size=20):
            self.split_size = split_size

    student.PipelineParallelResNet50 = Made
    student.time_training = lambda make, repeats=10: ask(make().split_size, repeats)
    return student.best_split_size(candidates, repeats)


def plain_svg():
    """Let pictures be drawn without a screen, and texts in them stay texts."""
    import matplotlib as mpl  # noqa: PLC0415  takes a second, and one question needs it

    mpl.use("Agg")
    mpl.rcParams["svg.fonttype"] = "none"
