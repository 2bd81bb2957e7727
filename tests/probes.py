"""Does a submission do what the reference does? Told without the grader, on inputs of our own.

Both run in this interpreter on inputs drawn here, and what comes back is compared as plain numbers.
Nothing of ``grader`` is used: no generator of an assignment, no tolerance, no check.
"""

from __future__ import annotations

import copy
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import nn

Probe = Callable[[ModuleType, np.random.Generator], Any]
COARSE = 1e-3
"""Relative difference above which values differ, however they were rounded."""


def _normal(dice: np.random.Generator, *shape: int) -> torch.Tensor:
    return torch.from_numpy(dice.standard_normal(shape)).float()


def _whole(dice: np.random.Generator, low: int, high: int, *shape: int) -> torch.Tensor:
    return torch.from_numpy(dice.integers(low, high, shape))


def _size(dice: np.random.Generator, low: int = 3, high: int = 8) -> int:
    return int(dice.integers(low, high))


def _batches(d: Any) -> tuple[Any, ...]:
    b, n, m, p = (_size(d) for _ in range(4))
    return _normal(d, b, n, m), _normal(d, b, m, p)


def _ragged(d: Any) -> tuple[Any, ...]:
    lengths = [_size(d, 1, 9) for _ in range(_size(d))]
    return [_normal(d, n) for n in lengths], torch.tensor(lengths)


def _distances(d: Any) -> tuple[Any, ...]:
    return _normal(d, _size(d), 3, 2, 2), _normal(d, _size(d), 3, 2, 2)


def _votes(d: Any) -> tuple[Any, ...]:
    n, k = _size(d, 6, 12), _size(d, 1, 6)
    columns = [d.permutation(n) + 0.5 for _ in range(_size(d))]
    return torch.from_numpy(np.stack(columns, 1)), _whole(d, 0, 12, n), k


def _linear(d: Any) -> tuple[Any, ...]:
    n, dim, c = _size(d), _size(d), _size(d)
    return _normal(d, dim, c), _normal(d, n, dim), _whole(d, 0, c, n), float(d.random())


def _triple(d: Any) -> tuple[Any, ...]:
    b, m, n, dim = (_size(d) for _ in range(4))
    dtype = torch.float64 if d.random() < 0.5 else torch.float32
    return tuple(_normal(d, b, length, dim).to(dtype) for length in (m, n, n))


def _attended(d: Any) -> tuple[Any, ...]:
    query, key, value = _triple(d)
    mask = torch.from_numpy(d.random((*query.shape[:2], key.shape[1])) < 0.6)
    mask[:, :, 0] = True
    return (query, key, value, mask) if d.random() < 0.5 else (query, key, value)


def _mutated(d: Any) -> tuple[Any, ...]:
    x = _normal(d, 5, 6)
    places = [(int(i), int(j)) for i, j in d.integers(0, 5, (4, 2))]
    return x, places, [float(v) for v in d.integers(10, 90, 4)]


def _added(d: Any) -> tuple[Any, ...]:
    m, n = _size(d), _size(d)
    return _normal(d, m, n), _normal(d, m, n), torch.zeros(m, n)


def _sliced(d: Any) -> tuple[Any, ...]:
    return (_normal(d, _size(d), _size(d)),)


INPUTS: dict[str, dict[str, Callable[[Any], tuple[Any, ...]]]] = {
    "pytorch101": {
        "create_sample_tensor": lambda d: (),
        "mutate_tensor": _mutated,
        "count_tensor_elements": lambda d: (_normal(d, *d.integers(1, 6, _size(d, 1, 5))),),
        "create_tensor_of_pi": lambda d: (_size(d), _size(d)),
        "multiples_of_ten": lambda d: (_size(d, 1, 40), _size(d, 60, 140)),
        "slice_indexing_practice": lambda d: (_normal(d, _size(d, 3), _size(d, 4)),),
        "slice_assignment_practice": lambda d: (_whole(d, -99, 99, 5, 8),),
        "shuffle_cols": lambda d: (_normal(d, _size(d), 3),),
        "reverse_rows": lambda d: (_normal(d, _size(d), _size(d)),),
        "take_one_elem_per_col": lambda d: (_normal(d, _size(d, 4), 3),),
        "make_one_hot": lambda d: (d.integers(0, 9, _size(d)).tolist(),),
        "sum_positive_entries": lambda d: (_whole(d, -50, 50, _size(d), _size(d)),),
        "reshape_practice": lambda d: (_whole(d, -99, 99, 24),),
        "zero_row_min": lambda d: (torch.from_numpy(d.permutation(35).reshape(5, 7)) - 9,),
        "batched_matrix_multiply_loop": _batches,
        "batched_matrix_multiply_noloop": _batches,
        "normalize_columns": lambda d: (_normal(d, _size(d), _size(d)),),
        "mm_on_gpu": lambda d: tuple(x[0] for x in _batches(d)),
        "challenge_mean_tensors": _ragged,
    },
    "tensors": {
        "add_three_ways": _added,
        "matvec_three_ways": lambda d: (_normal(d, 4, 6), _normal(d, 6)),
        "outer_product": lambda d: (_normal(d, _size(d)), _normal(d, _size(d))),
        "add_row": lambda d: (_normal(d, 4, 6), _normal(d, 6)),
        "add_column": lambda d: (_normal(d, 4, 6), _normal(d, 4)),
        "flatten_views": lambda d: (_normal(d, _size(d), 8),),
        "storage_facts": lambda d: (_normal(d, 5, 6)[:, _size(d, 1, 3):],),
        "transpose_without_copy": lambda d: (_normal(d, 2, _size(d), _size(d)),),
        "squeeze_unsqueeze": lambda d: (_normal(d, _size(d), 1, _size(d)),),
        "choose_dtype": lambda d: (_whole(d, 0, 9, 3), d.random()),
        "rows_at": lambda d: (_normal(d, 6, 3), _whole(d, 0, 6, _size(d)).to(torch.int32)),
        "sum_of_halves": lambda d: (_normal(d, 5000).half() + 1,),
        "named_axes": lambda d: (_normal(d, 2, 3, 4, 5), _normal(d, 3)),
        "gradient_by_hand": lambda d: (_normal(d, 7, 4), _normal(d, 4, 2), _normal(d, 7, 2)),
    },
    "knn": {
        "compute_distances_two_loops": _distances,
        "compute_distances_one_loop": _distances,
        "compute_distances_no_loops": _distances,
        "predict_labels": _votes,
        "knn_get_best_k": lambda d: (
            {int(k): d.integers(0, 9, 3).astype(float).tolist() for k in d.permutation(9)[:5]},
        ),
    },
    "linear_classifier": {
        "svm_loss_naive": _linear,
        "svm_loss_vectorized": _linear,
        "softmax_loss_naive": _linear,
        "softmax_loss_vectorized": _linear,
        "predict_linear_classifier": lambda d: (_normal(d, 5, 4), _normal(d, 9, 5)),
    },
    "attention": {
        "attend_loop": _triple,
        "attend": _attended,
        "causal_mask": lambda d: (_size(d),),
    },
}  # fmt: skip


def _uniques(m: Any, d: Any) -> Any:
    values, places = m.challenge_get_uniques(_whole(d, -9, 9, 40))
    return sorted(zip(values.tolist(), places.tolist(), strict=True))


def _same_storage(m: Any, d: Any) -> Any:
    x = _normal(d, 4, 4)
    return [m.same_storage(*pair) for pair in ((x, x.t()), (x, x.clone()), (x, x[1:]), (x, x + 0))]


def _classified(m: Any, d: Any) -> Any:
    x, y = _normal(d, 20, 3, 2, 2), _whole(d, 0, 4, 20)
    classifier = m.KnnClassifier(x, y)
    return classifier.predict(_normal(d, 6, 3, 2, 2), 1)


def _validated(m: Any, d: Any) -> Any:
    x, y = _normal(d, 20, 3, 2, 2), _whole(d, 0, 3, 20)
    return m.knn_cross_validate(x, y, 4, [1, 3])


def _net() -> nn.Module:
    torch.manual_seed(7)
    return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))


def _rows(d: Any, n: int = 13) -> tuple[Any, Any]:
    return _normal(d, n, 3), _normal(d, n, 1)


def _trained(m: Any, d: Any) -> Any:
    net = _net()
    data = torch.utils.data.TensorDataset(*_rows(d))
    loader = torch.utils.data.DataLoader(data, batch_size=4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = m.train_minibatch(net, loader, nn.functional.mse_loss, optimizer, 3)
    return losses, list(net.parameters()), net.training


def _full_batch(m: Any, d: Any) -> Any:
    net = _net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = m.train_full_batch(net, *_rows(d), nn.functional.mse_loss, optimizer, 4)
    return losses, list(net.parameters())


def _loaded(m: Any, d: Any) -> Any:
    return [list(batch) for batch in m.make_loader(*_rows(d), 4, False)]


def _built(m: Any, d: Any) -> Any:
    torch.manual_seed(3)
    return m.build_net()(_normal(d, 2, 784))


def _stopping(m: Any, d: Any) -> Any:
    said = []
    stopping = m.EarlyStopping(3, 0.05)
    for loss in d.random(12).round(2).tolist():
        net = _net()
        said.append((stopping.step(loss, net), stopping.best_loss))
    return said


def _frozen(m: Any, d: Any) -> Any:
    net = _net()
    parameters = m.freeze_backbone(net, net[2])
    flags = [p.requires_grad for p in net.parameters()]
    return len(parameters), flags, net[0].training, net[2].training


def _logged(m: Any, d: Any) -> Any:
    written: list[Any] = []
    writer = SimpleNamespace(
        add_scalar=lambda tag, value, step: written.append((tag, value, step)), flush=lambda: None
    )
    m.log_training(writer, {"a": d.random(3).tolist(), "b": d.random(2).tolist()})
    return sorted(written)


def _searched(m: Any, d: Any) -> Any:
    space = {"h": [1, 2, 3], "lr": (0.01, 1.0)}
    tried: list[float] = []
    found = m.search(space, lambda c: tried.append(c["lr"]) or c["lr"] * c["h"], 6, 3)
    return len(tried), found[1] == min(tried_ for tried_ in [found[0]["lr"] * found[0]["h"]])


def _kept(m: Any, d: Any) -> Any:
    net = _net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "state.pt"))
        m.save_checkpoint(path, net, optimizer, 4, 0.5)
        other = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
        second = torch.optim.SGD(other.parameters(), lr=0.3)
        told = m.load_checkpoint(path, other, second)
        return list(told), list(other.parameters()), second.param_groups[0]["lr"]


def _stored(save: str, load: str) -> Probe:
    def probe(m: Any, d: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "kept"))
            getattr(m, save)({"a": _normal(d, 3), "b": _normal(d, 2, 2)[:, :1]}, path)
            return getattr(m, load)(path)

    return probe


def _averaged(m: Any, d: Any) -> Any:
    net = _net()
    loss = m.average_gradients(net, nn.functional.mse_loss, *_rows(d), ["cpu"] * 3)
    return loss, [p.grad for p in net.parameters()]


def _stepped(m: Any, d: Any) -> Any:
    net = _net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = [m.train_step(net, nn.functional.mse_loss, optimizer, *_rows(d)) for _ in range(3)]
    return losses, list(net.parameters())


def _filled(net: nn.Module) -> nn.Module:
    """Draw all parameters anew: layers may be made in any order."""
    torch.manual_seed(5)
    with torch.no_grad():
        for _, parameter in sorted(net.named_parameters()):
            parameter.copy_(torch.randn_like(parameter))
    return net


def _module(name: str, *sizes: int, width: int) -> Probe:
    def probe(m: Any, d: Any) -> Any:
        x = _normal(d, 2, 3, width) if sizes else _normal(d, 4, width)
        return _filled(getattr(m, name)(*sizes))(x)

    return probe


def _copied(m: Any, d: Any) -> Any:
    model = _filled(m.Block(8, 2))
    losses = m.train_to_copy(model, _normal(d, 2, 3, 8), _normal(d, 2, 3, 8), 0.05, 3)
    return losses, list(model.parameters())


def _fitted(m: Any, d: Any) -> Any:
    w, x, y, _ = _linear(d)
    torch.manual_seed(5)
    return m.train_linear_classifier(m.softmax_loss_vectorized, w, x, y, 0.1, 0.01, 5, 4)


def _scaled(m: Any, d: Any) -> Any:
    layer = m.ScaledLinear(_normal(d, 3, 2), _normal(d, 2))
    layer(_normal(d, 4, 3)).sum().backward()
    return sorted(layer.state_dict()), layer(_normal(d, 4, 3)), layer.weight.grad


PROBES: dict[str, dict[str, Probe]] = {
    "pytorch101": {"challenge_get_uniques": _uniques},
    "tensors": {
        "same_storage": _same_storage,
        "ScaledLinear": _scaled,
        "save_tensors": _stored("save_tensors", "load_tensors"),
        "load_tensors": _stored("save_tensors", "load_tensors"),
    },
    "knn": {"KnnClassifier": _classified, "knn_cross_validate": _validated},
    "minibatch": {
        "make_loader": _loaded, "build_net": _built, "train_minibatch": _trained,
        "predict": lambda m, d: m.predict(_net(), _rows(d)[0], 4),
        "train_full_batch": _full_batch, "save_checkpoint": _kept, "load_checkpoint": _kept,
        "EarlyStopping": _stopping, "freeze_backbone": _frozen, "log_training": _logged,
        "search": _searched,
    },
    "parallel": {
        "ToyModel": _module("ToyModel", width=10),
        "train_step": _stepped,
        "average_gradients": _averaged,
    },
    "linear_classifier": {"train_linear_classifier": _fitted},
    "attention": {
        "MultiHeadAttention": _module("MultiHeadAttention", 8, 2, width=8),
        "Block": _module("Block", 8, 2, width=8),
        "train_to_copy": _copied,
    },
}  # fmt: skip


def probe_of(assignment: str, question: str) -> Probe | None:
    """Return what runs a question's function, or None: some need a machine or a scenario."""
    inputs = INPUTS.get(assignment, {}).get(question)
    if inputs is None:
        return PROBES.get(assignment, {}).get(question)

    def probe(module: ModuleType, dice: np.random.Generator) -> Any:
        args = inputs(dice)
        return {"result": getattr(module, question)(*args), "args": list(args)}

    return probe


def load(source: str, support: Path, name: str = "submission") -> ModuleType:
    """Import a text as a module. Its GPUs are the CPU: values are compared, and not places."""
    for number in range(4):
        source = source.replace(f"cuda:{number}", "cpu")
    source = source.replace(".cuda()", ".cpu()").replace("'cuda'", "'cpu'")
    module = ModuleType(name)
    module.__dict__["__file__"] = str(support / f"{name}.py")
    exec(compile(source, name, "exec", dont_inherit=True), module.__dict__)
    return module


def run(probe: Probe, module: ModuleType, seed: int) -> Any:
    """Return what came of it, or the type of what was raised."""
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)
    try:
        return copy.deepcopy(_plain(probe(module, np.random.default_rng(seed))))
    except Exception as error:  # noqa: BLE001  a submission may raise anything
        return f"raised {type(error).__name__}"


def _plain(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().clone()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def differences(mine: Any, right: Any, where: str = "") -> Iterator[str]:
    """Yield how two results differ: ``values``, ``dtype`` or ``args``, each with its place."""
    if isinstance(right, dict) and isinstance(mine, dict) and right.keys() == mine.keys():
        for key in right:
            yield from differences(mine[key], right[key], where or key)
    elif isinstance(right, list) and isinstance(mine, list) and len(right) == len(mine):
        for one, other in zip(mine, right, strict=True):
            yield from differences(one, other, where)
    elif not _near(mine, right):
        yield "args" if where == "args" else "values"
    elif getattr(mine, "dtype", None) != getattr(right, "dtype", None):
        yield "dtype"


def _near(mine: Any, right: Any) -> bool:
    try:
        a = np.asarray(mine.double() if isinstance(mine, torch.Tensor) else mine, float)
        b = np.asarray(right.double() if isinstance(right, torch.Tensor) else right, float)
    except (TypeError, ValueError, RuntimeError):
        return bool(mine == right)
    if a.shape != b.shape:
        return False
    scale = float(np.abs(b[np.isfinite(b)]).max(initial=0.0))
    return bool(np.isclose(a, b, rtol=COARSE, atol=COARSE * scale + 1e-12, equal_nan=True).all())
