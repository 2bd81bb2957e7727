"""Drives the submission from the stage, where a call on values is not enough.

Views are made in the actor, from an argument of the case that stays there. Which views, which pairs
and which files come in which order is drawn. How a tensor lies in memory is seen by writing to it.
"""

from __future__ import annotations

import io
import random

import numpy as np
import torch

from grader.scenario_process import (
    MadeByCode,
    RemoteError,
    WrongFileError,
    actor,
    callback,
    folder,
    given,
    read,
    repeat,
)


def _look(x, *steps):
    """Return the handle of what steps make of a tensor; each is a method and its arguments."""
    return given("look", x, steps, keep=True)


def _every_second(dim):
    """Steps that leave every second entry along a dimension."""
    return ("unfold", dim, 1, 2), ("select", -1, 0)


def _on_both_sides(numbers, of):
    return bool((numbers < of).any() and (numbers > of).any())


def made(m, n, data, like):
    """Make tensors twice; what is random is told by what holds for nearly all random numbers."""
    tensors, again = (actor.call("make_tensors", m, n, data, like) for _ in range(2))
    uniform, normal = tensors["uniform"], tensors["normal"]
    return {
        "tensors": tensors,
        "fixed": {name: tensors.get(name) for name in ("zeros", "data", "ones")},
        "random": {
            "uniform within 0 and 1": bool(((uniform >= 0) & (uniform < 1)).all()),
            "uniform on both sides of a half": _on_both_sides(uniform, 0.5),
            "normal on both sides of 0": _on_both_sides(normal, 0),
            "normal beyond 1": _on_both_sides(normal.abs(), 1),
            "others each time": not any(
                torch.equal(tensors[name], again[name]) for name in ("uniform", "normal")
            ),
        },
    }


def flattened(x):
    """Ask for views that exist and for such that do not, in an order that is drawn."""
    there = [(), (("narrow", 0, 1, 2),), (("t",), ("t",)), _every_second(1), (("unsqueeze", 1),)]
    not_there = [
        (("t",),),
        (("narrow", 1, 0, 4),),
        (("unsqueeze", 0), ("transpose", 1, 2)),
        (("narrow", 0, 0, 1), ("expand", 8, -1)),
    ]
    ways = [*there, *not_there]
    drawn = random.sample([*ways, random.choice(ways)], 10)
    raised, views = zip(*(_flattened(_look(x, *steps)) for steps in drawn), strict=True)
    return {"raised": raised, "views": views}


def _flattened(part):
    try:
        return "nothing", actor.call("flatten_views", part)
    except RemoteError as error:
        if error.type != "RuntimeError":
            raise
        return error.type, None


def _layouts(rows, columns):
    """Return nine ways to look at a matrix, with numbers that are drawn."""
    first, row = random.randrange(1, rows - 1), random.randrange(1, rows)
    left, column = random.randrange(1, columns - 2), random.randrange(1, columns)
    return [
        (),
        (("narrow", 0, first, rows - first),),
        (("narrow", 1, left, columns - left),),
        (("select", 0, row), *_every_second(0)),
        (("t",),),
        (("narrow", 0, first, rows - first), ("t",), ("narrow", 0, left, columns - left)),
        (("select", 0, row), ("select", 0, column)),
        (("narrow", 0, row, 1), ("expand", random.randrange(2, 5), -1)),
        (("view", rows, columns // 2, 2), ("transpose", 0, random.choice((1, 2)))),
    ]


def storages(x):
    """Ask about nine views of one tensor, one after the other."""
    layouts = _layouts(*x.shape)
    facts = [actor.call("storage_facts", _look(x, *steps)) for steps in random.sample(layouts, 9)]
    names = ("size", "offset", "stride", "contiguous")
    return {name: [fact.get(name) for fact in facts] for name in names}


def pairs(x):
    """Ask about pairs of tensors that share a storage, and of such that share their numbers."""
    flat, row = ("view", -1), random.randrange(x.shape[0])
    ways = {
        "x, x": lambda: (x, x),
        "x, x.t()": lambda: (x, _look(x, ("t",))),
        "x[i], x[i - 1]": lambda: (_look(x, ("select", 0, row)), _look(x, ("select", 0, row - 1))),
        "x.view(-1)[3:7], x": lambda: (_look(x, flat, ("narrow", 0, 3, 4)), x),
        "x, x.view(torch.int32)": lambda: (x, _look(x, ("view", torch.int32))),
        "x, x.clone()": lambda: (x, _look(x, ("clone",))),
        "x[i], x.clone()[i]": lambda: (
            _look(x, ("select", 0, row)), _look(x, ("clone",), ("select", 0, row)),
        ),
        "torch.zeros(3), torch.zeros(3)": lambda: (torch.zeros(3), torch.zeros(3)),
    }  # fmt: skip
    drawn = random.sample([*ways, *random.choices([*ways], k=2)], 10)
    # Numbered, for some come twice, and the order tells one case from another.
    return {
        f"{place}: {name}": actor.call("same_storage", *ways[name]())
        for place, name in enumerate(drawn, 1)
    }


def transposed_part(x):
    """Transpose what is itself a view with steps."""
    part = _look(x, ("narrow", 1, 1, x.shape[1] - 1), ("transpose", 0, 1), *_every_second(-1))
    return actor.call("transpose_without_copy", part)


def _contiguous(part):
    result = actor.keep("make_contiguous", part)
    numbers = actor.value(result)
    return numbers, isinstance(numbers, torch.Tensor) and _in_order(result, numbers)


def _in_order(result, numbers):
    """Write through one long view of a result, and look where the number comes out.

    Only a contiguous layout has such a view, and no copy has the number.
    """
    (place,), number = _drawn_write([max(1, numbers.numel())])
    try:
        given("write_in_order", result, place, number)
    except RemoteError:
        return False
    written = numbers.clone().flatten()
    written[place] = number
    return torch.equal(actor.value(result), written.view(numbers.shape))


def contiguous(x):
    """Ask for a contiguous layout of what has one."""
    result, said = _contiguous(x)
    return {"result": result, "contiguous": said}


def contiguous_copies(x):
    """Ask for a contiguous layout of what has none."""
    columns = ("narrow", 1, 1, x.shape[1] - 1)
    ways = (("t",),), (columns,), (("select", 0, 0), ("expand", 3, -1))
    results, said = zip(*(_contiguous(_look(x, *steps)) for steps in ways), strict=True)
    return {"result": list(results), "contiguous": list(said)}


def _drawn_write(shape):
    """Draw where something is written, and which number."""
    return [random.randrange(size) for size in shape], random.randrange(100, 1000)


def bridged(x):
    """Give an array, note the numbers, and write into array and tensor in turn, afterwards.

    Memory that is shared is seen to be: what is drawn and written through one is read through the
    other. No copy has it.
    """
    array = _look(x, ("numpy",))
    result = actor.keep("numpy_bridge", array)
    numbers = actor.value(result)
    given("write", array, *_drawn_write(x.shape))
    given("write", actor.item(result, "shared", keep=True), *_drawn_write(x.shape))
    after = actor.value(result)
    read_back = given("as_tensor", array)
    return {
        "numbers": numbers,
        "shared": {"tensor": after.get("shared"), "array": read_back},
        "own": after.get("own"),
    }


def _written(result, x):
    """Write into an array and a tensor in turn; return what each holds then."""
    given("write", x, *_drawn_write(x.shape))
    try:
        given("write", result, *_drawn_write(x.shape))
    except RemoteError as error:
        return {"array": error.type, "tensor": actor.value(x)}
    return {"array": given("as_tensor", result), "tensor": actor.value(x)}


def arrayed(x):
    """Ask for an array, note the numbers, and write into array and tensor, afterwards."""
    result = actor.keep("as_numpy", x)
    numbers = given("as_tensor", result)
    shared = _written(result, x)
    return {"numbers": numbers, "shared": shared, "taken": _taken_by_numpy(result, x)}


def _taken_by_numpy(result, x):
    """Have NumPy write into an array; it takes nothing else."""
    try:
        given("copy_to", result, torch.full_like(x, random.randrange(100, 1000)))
    except RemoteError:
        return "nothing that NumPy writes to"
    return given("as_tensor", result)


def arrayed_with_gradients(x):
    """Ask for an array of a tensor that requires gradients."""
    weight = _look(x, ("requires_grad_",))
    result = actor.keep("as_numpy", weight)
    given("write", weight, *_drawn_write(x.shape))
    given("write", result, *_drawn_write(x.shape))
    return {"array": given("as_tensor", result), "tensor": actor.method(weight, "detach")}


def moved(x, y):
    """Move between the CPU and a GPU; where the results lie, running the log again tells."""
    answer = given("moved", actor.module, x, y)
    said, log, placed = answer["all"], answer["log"], answer["placed"]
    outputs = {f"output[{name}]": said.get(name) for name in _MOVED}
    again = repeat(log, {"x": x, "y": y}, outputs, 1)
    if again["state"] != "real":
        placed = again.pop("placement")
    return {
        "all": said,
        "again": again,
        "gpu": _placed(placed, *_MOVED),
        "home": answer["home"],
    }


_MOVED = ("like_y", "double")


def _placed(report, *names):
    """Return the part of a placement that tells of these outputs."""
    wanted = {f"output[{name}]" for name in names}
    return {name: item for name, item in report.items() if name in wanted} or {"unrepeated": True}


def saved(x, y):
    """Save a tensor, a part of a larger one, and one that is not contiguous."""
    path = folder(write=True) / "x.pt"
    part, turned = _look(y, ("narrow", 0, 2, 2)), _look(x, ("t",))
    actor.call("save_tensors", {"whole": x, "part": part, "turned": turned}, str(path))
    return {"file": read(read_torch, path)}


def read_torch(path):
    """Return the tensors of a file of torch's, and the bytes beside them that came along."""
    data = path.read_bytes()
    try:
        content = torch.load(io.BytesIO(data), weights_only=True)
    except Exception as error:
        # Torch's own words run to a page, and end in how to load the file all the same.
        raise WrongFileError(
            en="The file is no file of torch.save, or holds more than tensors in plain containers.",
            ko="torch.save로 쓴 파일이 아니거나, dict나 list에 담은 텐서 말고 다른 것이 "
            "들어 있습니다.",
        ) from error
    if not isinstance(content, dict):
        kind = type(content).__name__
        raise WrongFileError(
            en=f"The file holds a {kind}, not a dict of tensors.",
            ko=f"파일에 텐서의 dict가 아니라 다른 것이 들어 있습니다: {kind}.",
        )
    for name, value in content.items():
        if not isinstance(value, torch.Tensor):
            kind = type(value).__name__
            raise WrongFileError(
                en=f"In the file “{name}” is a {kind}, not a tensor.",
                ko=f"파일에서 “{name}”의 값이 텐서가 아닙니다: {kind}.",
            )
    tensors = list(content.values())
    # Tensors may share a storage; each storage is in the file once.
    stored = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}
    needed = sum(tensor.nbytes for tensor in tensors)
    return {"tensors": dict(content), "too_much": max(0, sum(stored.values()) - needed)}


def loaded(x, y):
    """Load what torch wrote."""
    path = folder() / "given.pt"
    torch.save({"first": x, "second": y}, path)
    return actor.call("load_tensors", str(path))


def loaded_from_a_stranger(x):
    """Load files of which some hold more than tensors; refusing these is right.

    Whoever runs the code in them gets the tensors that all files have, and cannot tell them apart.
    """
    ran = []

    def code():
        ran.append(1)
        return x

    heard = callback(code, most=100)
    ways = [lambda: x, heard.when_unpickled, lambda: x, lambda: MadeByCode(x)]
    said = []
    for number, way in enumerate(random.sample([*enumerate(ways)] * 3, 12)):
        (kind, second), path = way, folder() / f"{number}.pt"
        torch.save({"first": x + number, "second": second()}, path)
        found = _loaded_or_refused(path)
        said.append("loaded" if kind % 2 and found != "refused" else found)
    return {"said": said, "code in a file ran": bool(ran)}


def _loaded_or_refused(path):
    try:
        return actor.call("load_tensors", str(path))
    except RemoteError:
        return "refused"


def saved_hdf5(x, y):
    """Save for other languages: a tensor, one of whole numbers, and one that requires gradients."""
    path = folder(write=True) / "x.h5"
    weight = (2 * x).requires_grad_()
    tensors = {"plain": x, "whole": _look(y, ("t",)), "layer.weight": weight}
    actor.call("save_hdf5", tensors, str(path))
    # Put together here: a reader of files that returned tensors would be what load_hdf5 is to be.
    parts = read(read_hdf5, path).items()
    return {"file": {name: _tensor(*part) for name, part in parts}}


def read_hdf5(path):
    """Return the NumPy dtype, the shape and the bytes of each dataset of an HDF5 file."""
    import h5py  # noqa: PLC0415  not everywhere, and nothing else here needs it

    with h5py.File(path, "r") as content:
        groups = [name for name, entry in content.items() if isinstance(entry, h5py.Group)]
        if groups:
            raise WrongFileError(
                en=f"In the file “{groups[0]}” is a group, not a dataset.",
                ko=f"파일에서 “{groups[0]}”이라는 이름은 데이터셋이 아니라 그룹입니다.",
            )
        return {name: _bytes_of(dataset) for name, dataset in content.items()}


def _bytes_of(dataset):
    if dataset.dtype.kind not in "biufc":
        raise WrongFileError(
            en=f"In the file “{dataset.name}” holds {dataset.dtype}, not numbers.",
            ko=f"파일에서 “{dataset.name}”에 든 것이 수가 아닙니다: {dataset.dtype}.",
        )
    # Another byte order is as good to HDF5; torch knows the machine's own only.
    array = dataset[...].astype(dataset.dtype.newbyteorder("="))
    return array.dtype.str, array.shape, array.tobytes()


def _tensor(dtype, shape, data):
    return torch.from_numpy(np.frombuffer(data, dtype).reshape(shape).copy())


def loaded_hdf5(x, y):
    """Load what another program wrote."""
    import h5py  # noqa: PLC0415  as above

    path = folder() / "given.h5"
    with h5py.File(path, "w") as file:
        file["first"] = x.numpy()
        file["second"] = y.numpy()
        file["one number"] = random.randrange(100) / 2
    return actor.call("load_hdf5", str(path))


def layer(weight, scale, x):
    """Look at a layer, at what it saves, and at what one step of an optimiser changes in it."""
    before = {"weight": weight, "scale": scale}
    net = actor.keep("ScaledLinear", weight.clone(), scale.clone())
    output = actor.method(net, "__call__", x)
    path = folder(write=True) / "state.pt"
    given("save_state", net, str(path))
    given("step", net, x, lr=random.choice([0.25, 0.5, 2.0]))
    after = _parts_of(net)
    # Frozen or not, what is among parameters() is one.
    given("add_to_parameters", net, random.randrange(1, 9))
    raised = _parts_of(net)
    changed = {"changed": _changed(after, raised), "output": actor.method(net, "__call__", x)}
    other = "float" if x.dtype == torch.float64 else "double"
    actor.method(net, other, keep=True)
    return {
        "output": output,
        "trained": _changed(before, after),
        "parameters": changed,
        "state": read(read_torch, path)["tensors"],
        "after": after,
        "converted": _parts_of(net),
    }


def _parts_of(net):
    return {name: torch.as_tensor(actor.attr(net, name)) for name in ("weight", "scale")}


def _changed(before, after):
    return ", ".join(name for name in before if not torch.equal(before[name], after[name]))
