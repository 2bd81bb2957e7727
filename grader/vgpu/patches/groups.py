"""``torch.distributed`` between virtual devices: groups of processes and what they exchange.

There is no NCCL without a GPU. So a group that asks for NCCL runs over gloo instead. It still
reports ``nccl`` as its backend, obeys NCCL's rules (one device a rank, no host tensors) and raises
NCCL's errors. Each exchange is noted as an event, for summary and timeline.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch
import torch.distributed
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel

from grader.vgpu.core.machine import machine
from grader.vgpu.core.tensor import VirtualTensor, plain, relabel, tensors_in
from grader.vgpu.core.trace import COMMUNICATION, Collective
from grader.vgpu.patches import Patches, duplicate_gpu, unsupported
from grader.vgpu.patches.sharded import buckets_anew, data_parallel, need_arithmetic, own_hook
from grader.vgpu.patches.streams import Stream, current_stream
from grader.vgpu.processes import note_name

_PAIRS = frozenset({"send", "recv", "isend", "irecv"})
_COLLECTIVES = (
    "all_reduce", "broadcast", "reduce", "all_gather", "all_gather_into_tensor",
    "all_gather_single", "reduce_scatter", "reduce_scatter_tensor", "reduce_scatter_single",
    "all_to_all", "all_to_all_single", "gather", "scatter", *sorted(_PAIRS),
)  # fmt: skip
_LATER = frozenset({"isend", "irecv"})
# Left out by ``ncclDataType`` of torch/csrc/distributed/c10d/NCCLUtils.hpp.
_NOT_NCCLS = {
    torch.int16: "Short", torch.uint16: "UInt16", torch.uint32: "UInt32", torch.uint64: "UInt64",
}  # fmt: skip
_BITWISE = ("BAND", "BOR", "BXOR")
# ``options.timeout`` of ProcessGroupNCCL, torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp.
_TIMEOUT = timedelta(minutes=10)
_agreed: weakref.WeakSet[Any] = weakref.WeakSet()


def _c10d() -> Any:
    return torch.distributed.distributed_c10d


class _Groups:
    """The groups of this process."""

    def __init__(self) -> None:
        # A Python reference to every group. If a model's C++ reference were the last, the group
        # would be destroyed with the interpreter's lock held, and join a gloo thread that waits
        # for that lock: a deadlock. Destruction from Python releases the lock first.
        self._kept: list[Any] = []
        self.bound = False

    def split(self, original: Any) -> Any:
        """Split a group into others without exchanging anything, as NCCL does."""

        @functools.wraps(original)
        def split_group(
            parent_pg: Any = None, split_ranks: Any = None, timeout: Any = None, *args: Any,
            **kwargs: Any,
        ) -> Any:  # fmt: skip
            """Make a group of each list of a group's ranks; return this rank's own, or None."""
            if not self.bound or not split_ranks:
                return original(parent_pg, split_ranks, timeout, *args, **kwargs)
            members = _ranks(parent_pg or torch.distributed.group.WORLD)
            own = machine().rank
            for part in split_ranks:
                chosen = [members[rank] for rank in part]
                if own in chosen:
                    new_group: Any = torch.distributed.new_group
                    return new_group(chosen, timeout, use_local_synchronization=True)
            return None

        return split_group

    def init(self, original: Any) -> Any:
        @functools.wraps(original)
        def init_process_group(*args: Any, **kwargs: Any) -> Any:
            # The device that a rank is bound to serves NCCL alone.
            self.bound = kwargs.pop("device_id", None) is not None
            kwargs.pop("pg_options", None)
            original(*args, **kwargs)
            machine().rank = torch.distributed.get_rank()
            note_name(f"rank {machine().rank}")

        return init_process_group

    def make(self, original: Any) -> Any:
        """Make a group over gloo, and let it say that it is what was asked for."""
        parameters = inspect.signature(original)

        @functools.wraps(original)
        def helper(*args: Any, **kwargs: Any) -> Any:
            given = parameters.bind(*args, **kwargs)
            asked = given.arguments["backend"]
            over_nccl = asked is None or "nccl" in str(asked) or str(asked) == "undefined"
            if over_nccl:
                given.arguments["backend"] = _c10d().Backend("gloo")
            group, store = original(*given.args, **given.kwargs)
            self._kept.append(group)
            if over_nccl and store is not None and asked is not None:
                world = _c10d()._world
                world.pg_map[group] = asked, world.pg_map[group][1]
                # Nobody chose one: host tensors and device tensors each have their own.
                chosen = "cpu:gloo,cuda:nccl" if str(asked) == "undefined" else asked
                world.pg_backend_config[group] = str(_c10d().BackendConfig(chosen))
            return group, store

        return helper


def _nccl(group: Any) -> bool:
    return "nccl" in str(_c10d()._world.pg_backend_config.get(group, ""))


def _hosts_too(group: Any) -> bool:
    return "cpu:gloo" in str(_c10d()._world.pg_backend_config.get(group, ""))


def _exchange(original: Callable[..., Any]) -> Any:
    """Check, run and note one of ``torch.distributed``'s functions."""
    parameters = inspect.signature(original)
    name = original.__name__

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        local = machine().local
        if local.exchanging:
            # One of torch's functions calls another, with what this one has prepared.
            return original(*args, **kwargs)
        given = parameters.bind_partial(*args, **kwargs).arguments
        group = given.get("group") or torch.distributed.group.WORLD
        if group is None or group is torch.distributed.GroupMember.NON_GROUP_MEMBER:
            return original(*args, **kwargs)
        found = list(tensors_in(tuple(given.values())))
        homes = _homes(found)
        if _nccl(group):
            _check(name, group, found)
            _check_reduction(given, found)
        if not homes:
            return original(*args, **kwargs)
        need_arithmetic()
        ordinal = homes.pop()
        bare = {key: _plain(value) for key, value in given.items()}
        run = original
        if _nccl(group):
            run, bare = _as_nccl(original, bare)
        later = given.get("async_op", False) or name in _LATER
        # Before it runs: NCCL waits for what was issued until now, and not for what comes after.
        done = _begin(_GroupPart(name, group, given), ordinal)
        local.exchanging = True
        try:
            work = run(**bare)
        finally:
            local.exchanging = False
        if later and work is not None:
            return _Work(work, ordinal, done)
        _finish(ordinal, done)
        return work

    return call


def _homes(tensors: Any) -> set[int]:
    return {each.ordinal for each in tensors if isinstance(each, VirtualTensor)}


def _plain(value: Any) -> Any:
    if isinstance(value, VirtualTensor):
        return plain(value)
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


_FLOAT8 = frozenset({
    torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz,
})  # fmt: skip


def _as_bytes(name: str, value: Any) -> Any:
    """Let numbers that gloo does not know go as bytes, where nobody computes with them."""
    if isinstance(value, list):
        return [_as_bytes(name, each) for each in value]
    if not isinstance(value, torch.Tensor) or value.dtype not in _FLOAT8:
        return value
    if "reduce" in name:
        raise unsupported(f"{name} of float8", "send it as bfloat16")
    return value.view(torch.uint8)


_STACKING = frozenset({
    "all_gather_into_tensor", "all_gather_single", "reduce_scatter_tensor", "reduce_scatter_single",
})  # fmt: skip
"""What they make of all ranks, or take, may be stacked as well as put one behind the other."""


def _flat(value: Any) -> Any:
    return value.view(-1) if isinstance(value, torch.Tensor) else value


def _flatten(bare: dict[str, Any]) -> None:
    """Let shapes differ where NCCL only counts elements, and gloo compares shapes."""
    bare["tensor_list"] = [each.view(-1) for each in bare["tensor_list"]]
    bare["tensor"] = bare["tensor"].view(-1)


def _as_nccl(
    original: Callable[..., Any], bare: dict[str, Any]
) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return function and arguments that let gloo do what it has no way of its own for."""
    bare = {key: _as_bytes(original.__name__, value) for key, value in bare.items()}
    if original.__name__ in _STACKING:
        bare = {key: _flat(value) for key, value in bare.items()}
    if original.__name__ == "all_gather":
        _flatten(bare)
        if _uneven(bare):
            return _by_broadcasts, bare
    if original.__name__ == "all_to_all":
        return _all_to_all, bare
    kinds: Any = torch.distributed.ReduceOp
    if bare.get("op") == kinds.AVG and _has_integers(bare):
        return _averaged(original), {**bare, "op": kinds.SUM}
    return original, _scaled_first(bare) if "op" in bare else bare


def _has_integers(bare: dict[str, Any]) -> bool:
    kinds = [each.dtype for each in tensors_in(tuple(bare.values()))]
    return not any(kind.is_floating_point or kind.is_complex for kind in kinds)


def _averaged(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a sum that is divided at its end: gloo's own average has no integers.

    NCCL leaves out what follows the point.
    """

    def averaged(async_op: bool = False, **bare: Any) -> Any:
        begun = original(**bare, async_op=True)
        if begun is None:
            return None
        work = _Once(begun)
        work.wait()
        if original.__name__ != "reduce" or _is_target(bare):
            target = bare["tensor"] if "tensor" in bare else bare["output"]
            size = torch.distributed.get_world_size(bare.get("group"))
            target.copy_(torch.div(target, size, rounding_mode="trunc"))
        return work if async_op else None

    return averaged


def _is_target(bare: dict[str, Any]) -> bool:
    """Tell whether this rank gets the result of a ``reduce``."""
    group = bare.get("group") or torch.distributed.group.WORLD
    if bare.get("group_dst") is not None:
        return bool(torch.distributed.get_rank(group) == bare["group_dst"])
    return bool(torch.distributed.get_rank() == bare["dst"])


def _uneven(bare: dict[str, Any]) -> bool:
    return len({each.numel() for each in bare["tensor_list"]}) > 1


def _by_broadcasts(
    tensor_list: Sequence[torch.Tensor], tensor: torch.Tensor, group: Any = None,
    async_op: bool = False,
) -> Any:  # fmt: skip
    """Gather parts of several sizes, as NCCL does: each rank sends its own to all others."""
    group, work = group or torch.distributed.group.WORLD, None
    for rank, part in zip(_ranks(group), tensor_list, strict=True):
        if rank == torch.distributed.get_rank():
            part.copy_(tensor)
        # Gloo does one after another: when the last has ended, all have.
        work = _c10d().broadcast(part, rank, group, async_op)
    return work


def _all_to_all(
    output_tensor_list: Sequence[torch.Tensor], input_tensor_list: Sequence[torch.Tensor],
    group: Any = None, async_op: bool = False,
) -> Any:  # fmt: skip
    """Send each rank its part, of any size, as NCCL does; gloo's own way wants equal sizes."""
    received, sent = (
        [each.numel() for each in parts] for parts in (output_tensor_list, input_tensor_list)
    )
    target = output_tensor_list[0].new_empty(sum(received))
    source = torch.cat([each.reshape(-1) for each in input_tensor_list])
    work = _c10d().all_to_all_single(target, source, received, sent, group, async_op=True)
    work.wait()
    for part, values in zip(output_tensor_list, torch.split(target, received), strict=True):
        part.copy_(values.view_as(part))
    return work if async_op else None


def _scaled_first(bare: dict[str, Any]) -> dict[str, Any]:
    """Let a sum of products with a factor be a sum of products, which gloo lacks."""
    kinds = torch.distributed.ReduceOp
    if bare["op"] != kinds.PREMUL_SUM:
        return bare
    factor = bare["op"].__getstate__()[1]
    factor = plain(factor) if isinstance(factor, torch.Tensor) else factor
    changed = {**bare, "op": kinds.SUM}
    for name in ("input", "input_list"):
        if name in bare:
            changed[name] = _times(bare[name], factor)
    if "tensor" in bare:
        # The result comes there.
        bare["tensor"].mul_(factor)
    return changed


def _times(value: Any, factor: Any) -> Any:
    return [each * factor for each in value] if isinstance(value, list) else value * factor


def _sizes(given: dict[str, Any]) -> Iterator[int]:
    """Yield the bytes of each argument: the greatest is that of all ranks together."""
    for value in given.values():
        yield sum(each.numel() * each.element_size() for each in tensors_in(value))


def _check(name: str, group: Any, found: list[torch.Tensor]) -> None:
    """Refuse what NCCL refuses.

    Raises:
        RuntimeError: A tensor of the host, where NCCL is the only backend.
        ValueError: A tensor that is not contiguous.
        TypeError: Its numbers are of a type that NCCL does not know.
        torch.distributed.DistBackendError: Two ranks are on one device.
    """
    if any(not isinstance(each, VirtualTensor) for each in found):
        if not _hosts_too(group):
            raise RuntimeError("No backend type associated with device type cpu")
        return
    if any(not each.is_contiguous() for each in found):
        raise ValueError("Tensors must be contiguous")
    for each in found:
        if each.dtype in _NOT_NCCLS:
            raise TypeError(
                "Input tensor data type is not supported for NCCL process group: "
                + _NOT_NCCLS[each.dtype]
            )
    if name not in _PAIRS and group not in _agreed and found:
        _agree(group, machine().check(found[0].get_device()))
        _agreed.add(group)


def _check_reduction(given: dict[str, Any], found: list[torch.Tensor]) -> None:
    """Refuse reductions that NCCL does not have.

    Raises:
        ValueError: One of bits.
        TypeError: An average of truth values, or a factor for integers.
    """
    op, kinds = given.get("op"), torch.distributed.ReduceOp
    if op is None or not _homes(found):
        return
    for name in _BITWISE:
        if op == getattr(kinds, name):
            raise ValueError(f"Cannot use ReduceOp.{name} with NCCL")
    if op == kinds.AVG and any(each.dtype is torch.bool for each in found):
        raise TypeError("Cannot use ReduceOp.AVG with boolean inputs")
    if op == kinds.PREMUL_SUM and any(not each.is_floating_point() for each in found):
        raise TypeError("PreMulSum Data type must be half, float, or double")


def _agree(group: Any, ordinal: int) -> None:
    """Tell the group's ranks which device is whose, as NCCL does at a group's first exchange."""
    ranks = _ranks(group)
    store, mine = _c10d()._world.pg_map[group][1], torch.distributed.get_rank()
    store.set(f"device/{mine}", str(ordinal))
    owners: dict[int, int] = {}
    for rank in ranks:
        device = int(store.get(f"device/{rank}"))
        if device in owners:
            raise duplicate_gpu(owners[device], rank, device)
        owners[device] = rank


def _ranks(group: Any) -> tuple[int, ...]:
    return tuple(torch.distributed.get_process_group_ranks(group))


class _GroupPart:
    """This process's part in an exchange."""

    def __init__(self, name: str, group: Any, given: dict[str, Any]) -> None:
        self.op = name.removeprefix("i") if name in _PAIRS else name
        self.size = max(_sizes(given))
        self.rank = torch.distributed.get_rank()
        self.ranks = _ranks(group)
        key = group.group_name
        # Pairs count apart: the rest of the group takes no part, and its counts would fall behind.
        if name in _PAIRS:
            self.ranks = self._pair(group, given)
            key = f"{key}/{self.ranks}"
        counts = machine().exchanges
        # All members begin exchanges in the same order, so that equal numbers mean the same one.
        self.group, self.number = key, counts[key]
        counts[key] += 1

    def _pair(self, group: Any, given: dict[str, Any]) -> tuple[int, ...]:
        """Return the sender's rank and the receiver's; of any sender, this one's alone."""
        peer = given.get("dst", given.get("src"))
        inside = given.get("group_dst", given.get("group_src"))
        if peer is None and inside is not None:
            peer = torch.distributed.get_global_rank(group, inside)
        if peer is None:
            return (self.rank,)
        return (self.rank, peer) if self.op == "send" else (peer, self.rank)


def _begin(part: _GroupPart, ordinal: int) -> Any:
    """Note an exchange on the stream that NCCL keeps for them; return the event of its end."""
    here = machine()
    apart = Stream(ordinal, stream_id=COMMUNICATION)
    apart.wait_event(current_stream(ordinal).record_event())
    with apart:
        what = (
            here.names[ordinal],
            part.op,
            part.size,
            part.ranks,
            part.rank,
            part.group,
            part.number,
        )
        here.note(Collective, ordinal, *what)
    return apart.record_event()


def _finish(ordinal: int, done: Any) -> None:
    done.wait(current_stream(ordinal))


class _Once:
    """A work of gloo's that is waited for once: with each wait it writes its results again."""

    def __init__(self, work: Any) -> None:
        self.bare = work
        self._brought: list[Any] = []

    def wait(self, *args: Any) -> Any:
        if not self._brought:
            self._brought.append(self.bare.wait(*args))
        return self._brought[0]


class _Work:
    """What an exchange that goes on returns: waiting for it makes the current stream wait."""

    def __init__(self, work: Any, ordinal: int, done: Any) -> None:
        self.done = done
        self._once = work if isinstance(work, _Once) else _Once(work)
        self.bare = self._once.bare
        self._ordinal = ordinal

    def wait(self, *args: Any) -> Any:
        """Wait for it."""
        _finish(self._ordinal, self.done)
        return self._once.wait(*args)

    def get_future(self) -> Any:
        """Return a future of what it brings, on the device."""
        future = self.bare.get_future()
        return future.then(lambda ended: _relabelled(ended.value(), self._ordinal))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.bare, name)


def _relabelled(value: Any, ordinal: int) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_relabelled(each, ordinal) for each in value)
    on_host = isinstance(value, torch.Tensor) and not isinstance(value, VirtualTensor)
    return relabel(value, ordinal) if on_host else value


def _operation(name: str, args: tuple[Any, ...], result: Any) -> None:
    """Take down a collective that is an operation, as those of DTensor are: at its end at once."""
    group = _c10d()._resolve_process_group(args[-1])
    op = name.removesuffix("_").removesuffix("_out").removesuffix("_coalesced")
    homes = _homes(tensors_in(result))
    if homes:
        ordinal = homes.pop()
        _finish(
            ordinal, _begin(_GroupPart(op, group, {"input": args[0], "result": result}), ordinal)
        )


def _notified(original: Any) -> Any:
    @functools.wraps(original)
    def notify_join_context(joinable: Any) -> Any:
        """Say that this rank goes on; C++ takes the exchange itself, not what stands for it."""
        work = original(joinable)
        return work.bare if isinstance(work, _Work) else work

    return notify_join_context


@contextmanager
def _one_by_one(group: Any = None, device: Any = None, async_ops: bool = False) -> Iterator[Any]:
    """Run exchanges that NCCL would join into one by themselves; the last of them ends them all."""
    yield _c10d()._CoalescingManager()


def _coalescing(original: Any) -> Any:
    @functools.wraps(original)
    def coalescing_manager(group: Any = None, device: Any = None, async_ops: bool = False) -> Any:
        chosen = group or torch.distributed.group.WORLD
        make = _one_by_one if _nccl(chosen) else original
        return make(group, device, async_ops)

    return coalescing_manager


def _coalesced(original: Any) -> Any:
    @functools.wraps(original)
    def broadcast_coalesced(group: Any, tensors: Any, *args: Any, **kwargs: Any) -> Any:
        """Send a model's parameters or buffers to all ranks, as DistributedDataParallel does."""
        homes = _homes(tensors)
        if homes:
            ordinal = homes.pop()
            _check("broadcast", group, list(tensors))
            done = _begin(_GroupPart("broadcast", group, {"tensors": tensors}), ordinal)
            tensors = _plain(tensors)
            _finish(ordinal, done)
        return original(group, tensors, *args, **kwargs)

    return broadcast_coalesced


def _objects_device(original: Any) -> Any:
    @functools.wraps(original)
    def device(group: Any = None) -> Any:
        """Return where objects are sent from: over NCCL alone, as bytes on the current device."""
        group = group or torch.distributed.group.WORLD
        if not _nccl(group) or _hosts_too(group):
            return original(group)
        return torch.device("cuda", torch.cuda.current_device())

    return device


def _barrier(original: Any) -> Any:
    @functools.wraps(original)
    def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Any:
        local = machine().local
        # A barrier is an exchange inside, which the program has not asked for: it is not noted.
        local.exchanging = True
        try:
            return original(*(() if group is None else (group,)), async_op=async_op)
        finally:
            local.exchanging = False

    return barrier


def patch_groups(patches: Patches) -> None:
    """Let groups of processes exchange what is on devices."""
    if not torch.distributed.is_available():
        return
    module, groups = _c10d(), _Groups()
    machine().exchanged = _operation
    patches.wrap(module, "_new_process_group_helper", groups.make)
    patches.set(module, "default_pg_nccl_timeout", _TIMEOUT)
    for name, make in {
        "init_process_group": groups.init,
        "split_group": groups.split,
        "barrier": _barrier,
        "_get_object_coll_device": _objects_device,
        "_get_pg_default_device": _objects_device,
        "is_nccl_available": lambda _: lambda: True,
        "_coalescing_manager": _coalescing,
        **dict.fromkeys(_COLLECTIVES, _exchange),
    }.items():
        if hasattr(module, name):
            made = patches.wrap(module, name, make)
            patches.set(torch.distributed, name, made)
    patches.wrap(torch.distributed, "_broadcast_coalesced", _coalesced)
    patches.set(Join, "notify_join_context", staticmethod(_notified(Join.notify_join_context)))
    patches.wrap(DistributedDataParallel, "__init__", data_parallel)
    patches.wrap(DistributedDataParallel, "_pre_forward", buckets_anew)
    patches.wrap(DistributedDataParallel, "register_comm_hook", own_hook)
