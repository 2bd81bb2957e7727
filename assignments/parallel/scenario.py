"""Runs in the guest, beside the hand-in: models with fixed weights, GPUs watched, real processes.

What is returned is compared with what the reference returns under the same scenario; there is no
expected value here. Each question gets models of its own, so that a mistake costs one question.
"""

from __future__ import annotations

import builtins
import gc
import multiprocessing
import os
import socket
import time
import traceback
import warnings
from contextlib import contextmanager
from itertools import chain
from multiprocessing import connection
from pathlib import Path

import torch
import torch._dynamo  # what an optimiser's first step imports: once here, not in each process
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from grader.guest.api import on_timeline, placement, scratch, watching

# -- models over two GPUs --------------------------------------------------------------------------


def toy_model(student, x, labels, w1, b1, w2, b2, device):
    """Run a ToyModel with these weights forward and backward, and make a step of SGD.

    Args:
        student: The submitted module.
        x: The inputs.
        labels: Compared with the outputs where those are.
        w1: Weights of net1.
        b1: Its bias.
        w2: Weights of net2.
        b2: Its bias.
        device: Where the inputs are when the model gets them.
    """
    model = student.ToyModel()
    state = {"net1.weight": w1, "net1.bias": b1, "net2.weight": w2, "net2.bias": b2}
    if missing := model.load_state_dict(state, strict=False).missing_keys:
        raise KeyError(f"ToyModel has no {', '.join(missing)}")
    x = x.to(device)
    with watching() as seen:
        outputs = model(x)
    nn.MSELoss()(outputs, labels.to(outputs.device)).backward()
    own = {name: parameter for name, parameter in model.named_parameters() if name in state}
    result = {
        "outputs": outputs,
        "forward": seen.report,
        "placement": placement(model, outputs),
        "gradients": {name: parameter.grad for name, parameter in own.items()},
    }
    torch.optim.SGD(model.parameters(), lr=0.25).step()
    return {**result, "updated": {name: own[name].detach() for name in state}}


def _loss(outputs, labels):
    # Not the same with outputs and labels exchanged.
    return ((2 * outputs - labels) ** 2).mean()


class _Halves(nn.Module):
    """A model over two GPUs that is right whatever the hand-in's is."""

    def __init__(self, w1, w2):
        super().__init__()
        self.first = nn.Parameter(w1.to("cuda:0"))
        self.second = nn.Parameter(w2.to("cuda:1"))

    def forward(self, x):
        hidden = torch.tanh(x.to("cuda:0") @ self.first)
        return hidden.to("cuda:1") @ self.second


def training(student, x, labels, w1, w2, device):
    """Make three training steps; tell the losses, the weights, and where the loss found labels.

    Args:
        student: The submitted module.
        x: Inputs of three steps, one behind the other.
        labels: Likewise.
        w1: Weights of the first half.
        w2: Weights of the second half.
        device: Where inputs and labels are.
    """
    model = _Halves(w1, w2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.125, momentum=0.5)
    found = []

    def loss_fn(outputs, labels):
        found.append((str(outputs.device), str(labels.device)))
        return _loss(outputs, labels)

    losses = [
        student.train_step(model, loss_fn, optimizer, inputs, wanted)
        for inputs, wanted in zip(x.to(device), labels.to(device), strict=True)
    ]
    weights = {"first": model.first.detach(), "second": model.second.detach()}
    return {"losses": losses, "weights": weights, "label_devices": found}


# -- ResNet-50 -------------------------------------------------------------------------------------

_PERIOD = 4099
"""Values before they repeat: a prime, so that no two rows of a weight are the same."""


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


def _fill(tensor, number, scale, shift=0.0):
    generator = torch.Generator().manual_seed(number)
    values = torch.randn(_PERIOD, generator=generator).clamp_(-2, 2) * scale + shift
    times = -(-tensor.numel() // _PERIOD)
    with torch.no_grad():
        tensor.copy_(values.repeat(times)[: tensor.numel()].view(tensor.shape))


def _give_weights(model, images):
    """Give each layer fixed weights in the order in which the layers run; return the first.

    By that order and not by name: a network cut into ``nn.Sequential`` slices has other names.
    """
    filled = []

    def fill(module, _):
        if module in filled:
            return
        number = len(filled)
        filled.append(module)
        weight = module.weight
        if isinstance(module, nn.BatchNorm2d):
            _fill(weight, number, 0.1, 0.75)
            _fill(module.running_mean, number + 2000, 0.1)
            _fill(module.running_var, number + 3000, 0.2, 1.0)
        else:
            _fill(weight, number, (2 / weight[0].numel()) ** 0.5)
        if module.bias is not None:
            _fill(module.bias, number + 1000, 0.1)

    layers = (nn.Conv2d, nn.BatchNorm2d, nn.Linear)
    hooks = [
        module.register_forward_pre_hook(fill)
        for module in model.modules()
        if isinstance(module, layers)
    ]
    with torch.no_grad():
        model(images)
    for hook in hooks:
        hook.remove()
    return filled[0]


def resnet(student, images):
    """Run a ModelParallelResNet50 in eval mode, forward and backward."""
    with _undrawn():
        model = student.ModelParallelResNet50()
    model.eval()
    images = images.to("cuda:0")
    stem = _give_weights(model, images)
    gc.collect()
    with watching() as seen:
        outputs = model(images)
    (outputs**2).mean().backward()
    return {
        "outputs": outputs,
        "forward": seen.report,
        "placement": placement(model, outputs),
        "gradient": {"of the first layer": stem.weight.grad},
    }


# -- one batch over several GPUs -------------------------------------------------------------------


def _network(w1, b1, w2):
    model = nn.Sequential(nn.Linear(*w1.T.shape), nn.Tanh(), nn.Linear(*w2.T.shape, bias=False))
    model.load_state_dict({"0.weight": w1, "0.bias": b1, "2.weight": w2})
    return model


def averaged(student, x, labels, w1, b1, w2, devices):
    """Average gradients over devices; other gradients were there before."""
    model = _network(w1, b1, w2).to(devices[0])
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 8.0)
    with watching() as seen:
        loss = student.average_gradients(model, _loss, x, labels, devices)
    return {
        "loss": loss,
        "gradients": {name: parameter.grad for name, parameter in model.named_parameters()},
        "weights": {name: parameter.detach() for name, parameter in model.named_parameters()},
        "placement": placement(model),
        "work": seen.report,
    }


def data_parallel(student, x, labels, w1, b1, w2):
    """Run a model over all GPUs, forward and backward."""
    model = _network(w1, b1, w2)
    parallel = student.to_data_parallel(model)
    with watching() as seen:
        outputs = parallel(x)
    _loss(outputs, labels.to(outputs.device)).backward()
    return {
        "outputs": outputs,
        "gradients": {name: parameter.grad for name, parameter in model.named_parameters()},
        "placement": placement(model, outputs),
        "forward": seen.report,
    }


# -- processes -------------------------------------------------------------------------------------

_PATIENCE = 5.0
"""Seconds that is waited for other processes, far longer than honest ones take to come."""


_done_here = []
"""Work that this process did; other processes have lists of their own."""


def _workers(folder):
    return {path.name for path in folder.iterdir()}


def slow_start(job):
    """Square a number, once so many processes are at work; the first number takes longest.

    Each process leaves a file of its name, and waits for those of the others. Whoever has waited in
    vain says so, that nobody waits again.

    Args:
        job: The number, its place, how many processes to wait for, and the folder of the files.
    """
    number, place, wanted, folder = job
    _done_here.append(place)
    folder = Path(folder)
    (folder / str(os.getpid())).touch()
    alone = folder.with_suffix(".alone")
    end = time.monotonic() + _PATIENCE
    while len(_workers(folder)) < wanted and not alone.exists():
        if time.monotonic() > end:
            alone.touch()
        time.sleep(0.005)
    time.sleep(0.2 if place == 0 else 0.02)
    return number * number


def pooled(student, numbers, processes, wanted):
    """Square numbers in several processes; tell who did it, and who is left.

    Args:
        student: The submitted module.
        numbers: To be squared.
        processes: Handed on; nothing is where None.
        wanted: Processes that are waited for.
    """
    folder = scratch() / f"workers-{time.monotonic_ns()}"
    folder.mkdir()
    _done_here.clear()
    jobs = [(number, place, wanted, str(folder)) for place, number in enumerate(numbers)]
    kwargs = {} if processes is None else {"processes": processes}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ResourceWarning)
        squares = student.pool_map(slow_start, jobs, **kwargs)
        gc.collect()
    unclosed = any(issubclass(item.category, ResourceWarning) for item in warned)
    end = time.monotonic() + _PATIENCE
    while multiprocessing.active_children() and time.monotonic() < end:
        time.sleep(0.01)
    left = multiprocessing.active_children()
    for child in left:
        child.kill()
    # What is done here is done by none of them, whoever else has left a name.
    workers = set() if _done_here else _workers(folder)
    return {
        "squares": squares,
        "workers": len(workers),
        "left_open": bool(left) or unclosed,
    }


class _Recorder(nn.Module):
    """A linear model that notes which samples it sees; each begins with its number."""

    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.seen = []

    def forward(self, x):
        self.seen.append([int(number) for number in x[:, 0]])
        return x[:, 1:] @ self.weight


def _mean_of_products(outputs, labels):
    # Its gradient does not depend on the weights, so that neither does the order of the samples
    # matter: whatever a sampler's seed, an epoch moves the weights by the same. One more, that
    # outputs and labels are not to be exchanged.
    return (outputs * (labels + 1)).mean()


def _train_one(student, rank, world_size, job):
    """Run one worker; return what its model holds and has seen."""
    x, labels, weight, epochs, batch_size, lr = job
    numbered = torch.cat([torch.arange(len(x), dtype=x.dtype)[:, None], x], dim=1)
    # Only the first process begins with the right weights.
    model = _Recorder(weight + rank)
    dataset = torch.utils.data.TensorDataset(numbered, labels)
    settings = {"epochs": epochs, "batch_size": batch_size, "lr": lr}
    student.ddp_worker(rank, world_size, model, dataset, _mean_of_products, **settings)
    return {
        "weight": model.weight.detach().tolist(),
        "seen": model.seen,
        "group_left_open": distributed.is_initialized(),
    }


def distributed_training(student, x, labels, weight, world_size, epochs, batch_size, lr):
    """Train in real processes that talk to one another; tell what each of them did."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(_free_port()))
    job = (x, labels, weight, epochs, batch_size, lr)
    ranks = _in_processes(
        world_size, lambda rank: _train_one(student, rank, world_size, job), student.__file__
    )
    weights = torch.tensor([rank["weight"] for rank in ranks])
    orders = [[_epoch(rank["seen"], epoch, epochs) for rank in ranks] for epoch in range(epochs)]
    return {
        "weights": weights,
        "ranks_agree": bool((weights == weights[0]).all()),
        "seen": [sorted(chain.from_iterable(order)) for order in orders],
        "batches": [[len(batch) for batch in rank["seen"]] for rank in ranks],
        "order_changes": orders[0] != orders[-1],
        "group_left_open": any(rank["group_left_open"] for rank in ranks),
    }


def _epoch(batches, epoch, epochs):
    """Return the samples that one process saw in one of its epochs."""
    samples = list(chain.from_iterable(batches))
    share = len(samples) // epochs
    return samples[epoch * share : (epoch + 1) * share]


def _free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def _in_processes(number, work, file):
    """Run ``work(0)`` … ``work(number - 1)`` in processes of their own; return what they return.

    A process that fails ends the others, and what it raised is raised here as if in its line.
    """
    context = multiprocessing.get_context("fork")
    pipes, children = [], []
    for rank in range(number):
        receiving, sending = context.Pipe(duplex=False)
        child = context.Process(target=_child, args=(work, rank, sending, file))
        child.start()
        sending.close()
        pipes.append(receiving)
        children.append(child)
    results = {}
    try:
        while len(results) < number:
            waiting = [pipe for pipe in pipes if pipe not in results]
            for pipe in connection.wait(waiting):
                results[pipe] = _received(pipe, pipes.index(pipe), file)
    finally:
        for child in children:
            child.kill()
            child.join()
    return [results[pipe] for pipe in pipes]


def _keep_wrappers():
    """Let every DistributedDataParallel of this process live until its end.

    Torch's reducer may own the process group last, and ends it while it holds the interpreter's
    lock, for which the group's own thread may be waiting: now and then an honest worker would
    never return (seen with torch 2.13).
    """
    make, kept = DistributedDataParallel.__init__, []

    def make_and_keep(self, *args, **kwargs):
        kept.append(self)
        make(self, *args, **kwargs)

    DistributedDataParallel.__init__ = make_and_keep


def _child(work, rank, sending, file):
    # A process that was split off while other threads ran must not start torch's own.
    torch.set_num_threads(1)
    _keep_wrappers()
    try:
        sending.send((work(rank), None))
    except BaseException as error:  # noqa: BLE001  whatever it is, the parent is to hear of it
        lines = [item.lineno for item in traceback.extract_tb(error.__traceback__)
                 if item.filename == file]  # fmt: skip
        sending.send((None, (type(error).__name__, str(error), lines[-1] if lines else 0)))


def _received(pipe, rank, file):
    try:
        result, failed = pipe.recv()
    except EOFError:
        raise RuntimeError(f"process {rank} ended before its work was done") from None
    if failed is None:
        return result
    name, text, line = failed
    kind = getattr(builtins, name, RuntimeError)
    text = text if kind.__name__ == name else f"{name}: {text}"
    code = compile("\n" * (line - 1) + "raise error", file if line else __file__, "exec")
    exec(code, {"error": kind(f"{text} (in process {rank})")})  # noqa: S102  for file and line
    return None


# -- pipelines and time ----------------------------------------------------------------------------


def pipeline(student, images, split_size):
    """Run a PipelineParallelResNet50 in eval mode, then once in training mode.

    In training mode batch normalisation sees one part at a time and counts them. Its numbers are
    not compared: they depend on how the batch is cut.
    """
    with _undrawn():
        model = student.PipelineParallelResNet50(split_size)
    model.eval()
    images = images.to("cuda:0")
    _give_weights(model, images)
    gc.collect()
    with watching() as seen, torch.no_grad():
        outputs = model(images)
    model.train()
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    before = [int(norm.num_batches_tracked) for norm in norms]
    with torch.no_grad():
        model(images)
    after = [int(norm.num_batches_tracked) for norm in norms]
    # The same layer may stand under two names; the count is that of any of them.
    counted = {late - early for early, late in zip(before, after, strict=True)}
    return {
        "outputs": outputs,
        "watched": seen.report,
        "placement": placement(model, outputs),
        "batches_seen": sorted(counted),
    }


def pipeline_in_time(student, batch, split_size, card):
    """Make a step of training on a timeline, without arithmetic: forward, then all the rest."""
    with on_timeline(card, arithmetic=False) as time_line, _undrawn():
        model = student.PipelineParallelResNet50(split_size)
        model.train()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
        images = torch.empty(batch, 3, 128, 128).to("cuda:0")
        labels = torch.zeros(batch, 1000).to("cuda:1")
        with time_line.lap() as forward:
            outputs = model(images)
        with time_line.lap() as rest:
            nn.MSELoss()(outputs, labels).backward()
            optimizer.step()
    return {"forward": forward.report, "step": rest.report}


class _Busy(nn.Module):
    """Keeps GPUs busy for as long as it is told, and returns before they are done."""

    def __init__(self):
        super().__init__()
        # Of a V100 each pass over it takes a millisecond: 900 MB at 900 GB/s.
        self.weight = nn.Parameter(torch.empty(225_000_000, device="cuda:0"))
        self.other = torch.empty(225_000_000, device="cuda:1")

    def work(self, milliseconds, busy):
        """Let both GPUs work, the one of number ``busy`` for so long, the other one for 1 ms."""
        for number, tensor in enumerate((self.weight.data, self.other)):
            for _ in range(milliseconds if number == busy else 1):
                tensor.add_(1.0)


def timed_training(student, milliseconds, repeats, busy):
    """Time a training that takes as long as is said for its first call, its second, and so on."""
    calls = []

    def train(model, *_, **__):
        model.work(milliseconds[min(len(calls), len(milliseconds) - 1)], busy)
        calls.append(None)

    def make():
        # A large model takes time to make: what is not to be measured.
        torch.empty(2**24).to("cuda:0")
        return _Busy()

    student.train = train
    with on_timeline("v100", arithmetic=False, clocks=[student]):
        mean, deviation = student.time_training(make, repeats)
    return {"mean": float(mean), "deviation": float(deviation), "calls": len(calls)}


def plotted(student, means, stds, labels, name):
    """Let a picture be drawn; tell what is on it when it is saved, and what the file is."""
    import matplotlib as mpl  # noqa: PLC0415  takes a second, and one question needs it

    mpl.use("Agg")
    from matplotlib.figure import Figure  # noqa: PLC0415

    saved = []
    save = Figure.savefig

    def save_and_look(self, *args, **kwargs):
        saved.append(_on_picture(self))
        return save(self, *args, **kwargs)

    Figure.savefig = save_and_look
    try:
        student.plot_times(means, stds, labels, str(scratch() / name))
    finally:
        Figure.savefig = save
    return {"file": _kind_of_picture(scratch() / name), **(saved[-1] if saved else _NOTHING)}


_NOTHING = {"bars": torch.zeros(0), "error_bars": torch.zeros(0, 2), "labels": {}}


def _on_picture(figure):
    axes = [each for each in figure.axes if each.patches]
    if not axes:
        return _NOTHING
    first = axes[0]
    figure.canvas.draw()
    bars = sorted(first.patches, key=lambda bar: bar.get_x())
    segments = [
        segment
        for collection in first.collections
        if hasattr(collection, "get_segments")
        for segment in collection.get_segments()
        if len(segment) == 2 and segment[0][0] == segment[1][0]
    ]
    ends = [[float(segment[0][1]), float(segment[1][1])]
            for segment in sorted(segments, key=lambda item: item[0][0])]  # fmt: skip
    written = [tick.get_text() for tick in first.get_xticklabels() if tick.get_text()]
    return {
        "bars": torch.tensor([float(bar.get_height()) for bar in bars], dtype=torch.float64),
        "error_bars": torch.tensor(ends, dtype=torch.float64).reshape(-1, 2),
        "labels": {"below": written, "axis_says_something": bool(first.get_ylabel().strip())},
    }


def _kind_of_picture(path):
    if not path.is_file():
        return "no file"
    start = path.read_bytes()[:512]
    if start.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    return "svg" if b"<svg" in start else "neither png nor svg"


def swept(student, candidates, means, repeats):
    """Sweep over split sizes with a timing that is known beforehand."""
    known = dict(zip(candidates, means, strict=True))
    asked = []

    class Made:
        def __init__(self, split_size=20):
            self.split_size = split_size

    def time_training(model_fn, repeats=10):
        asked.append(repeats)
        return known[model_fn().split_size], 0.125

    student.PipelineParallelResNet50 = Made
    student.time_training = time_training
    best, timings = student.best_split_size(candidates, repeats)
    return {
        "best": best,
        "timings": {str(size): [float(part) for part in timing]
                    for size, timing in sorted(timings.items())},
        "repeats": asked,
    }  # fmt: skip
