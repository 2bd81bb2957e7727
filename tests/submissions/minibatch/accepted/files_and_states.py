# Files, checkpoints, early stopping, freezing and search in other ways than the reference.
# expect:
#   questions: {"*": {status: passed}}

import copy
import io
import json
import math
import os
import tempfile
from pathlib import Path

import numpy as np
import torch


class DigitDataset(torch.utils.data.Dataset):
    """Threes are 0 here, and come last."""

    def __init__(self, root):
        self.paths = []
        for digit in ("7", "3"):
            folder = os.path.join(root, digit)
            for name in os.listdir(folder):
                self.paths.append((os.path.join(folder, name), 1.0 if digit == "7" else 0.0))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        if not 0 <= index < len(self):
            raise IndexError(f"no image {index}")
        path, label = self.paths[index]
        image = np.load(path).astype(np.float32) / np.float32(255)
        return torch.tensor(image.ravel()), torch.full((1,), label)


def save_checkpoint(path, net, optimizer, epoch, loss):
    path = Path(path)
    buffer = io.BytesIO()
    torch.save(
        dict(
            model_state_dict=copy.deepcopy(net.state_dict()),
            optimizer_state_dict=copy.deepcopy(optimizer.state_dict())
            if "note" not in optimizer.param_groups[0]
            else optimizer.state_dict(),
            epoch=epoch,
            loss=loss,
            torch=str(torch.__version__),
        ),
        buffer,
    )
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(buffer.getvalue())
    os.rename(file.name, path)


def load_checkpoint(path, net, optimizer):
    with open(path, "rb") as file:
        checkpoint = torch.load(file, map_location="cpu")
    net.load_state_dict(checkpoint["model_state_dict"], strict=True)
    optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
    return [checkpoint[name] for name in ("epoch", "loss")]


class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.history = []
        self.weights = {}

    @property
    def best_loss(self):
        return self.history[self.at] if self.history else float("inf")

    def step(self, loss, net):
        if loss != loss:
            return True
        self.history.append(loss)
        if len(self.history) == 1 or loss < self.history[self.at] - self.min_delta:
            self.at = len(self.history) - 1
            self.weights = {name: value.clone() for name, value in net.state_dict().items()}
        # What is falsy says “go on”, as in most training loops.
        if len(self.history) - 1 - self.at >= self.patience:
            return True

    def restore(self, net):
        with torch.no_grad():
            for name, value in net.state_dict().items():
                value.copy_(self.weights[name])


def freeze_backbone(model, head):
    own = set(head.modules())
    for module in model.modules():
        module.training = module in own
        for weight in module.parameters(recurse=False):
            weight.requires_grad = module in own
    return [weight for weight in model.parameters() if weight.requires_grad]


def log_training(writer, history):
    for epoch in range(max(len(values) for values in history.values())):
        for tag in history:
            writer.add_scalar(tag, torch.tensor(history[tag][epoch]), global_step=epoch)
    writer.flush()


def search(config_space, train_fn, num_samples, seed=0):
    rng = np.random.default_rng(seed)

    def draw(values):
        if isinstance(values, tuple):
            return float(10 ** rng.uniform(*np.log10(values)))
        return values[rng.integers(len(values))]

    configs = [{name: draw(values) for name, values in config_space.items()} for _ in range(num_samples)]
    losses = [train_fn(config) for config in configs]
    best = int(np.nanargmin(losses))
    return configs[best], losses[best]


def best_trial(folder, metric):
    found = []
    for trial in sorted(os.listdir(folder)):
        try:
            with open(os.path.join(folder, trial, "result.json")) as file:
                reports = [json.loads(line) for line in file]
        except OSError:
            continue
        found += [(report[metric], report["config"]) for report in reports if not math.isnan(report[metric])]
    value, config = min(found, key=lambda pair: pair[0])
    return config, value
