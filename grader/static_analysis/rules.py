"""What counts as a loop: names that call back.

A name is matched by its last part where it is an attribute of something unknown, and by its whole
where it was resolved through imports. What goes through dimensions is told apart in ``dims``.
"""

from __future__ import annotations

import ast

from grader.static_analysis.scope import dotted

CALLS_BACK = frozenset({
    "map", "filter", "starmap", "reduce", "accumulate", "takewhile", "dropwhile", "filterfalse",
    "groupby", "imap", "imap_unordered", "map_async", "starmap_async", "submit", "apply_async",
    "vectorize", "frompyfunc", "apply_along_axis", "apply_over_axes", "fromiter", "nditer",
    "ndenumerate", "ndindex", "apply_", "map_", "map2_", "applymap", "iterrows",
    "itertuples", "while_loop", "associative_scan", "run_until_complete", "fori_loop",
    "ThreadPool", "ThreadPoolExecutor", "ProcessPoolExecutor", "call_soon",
    "timeit", "run_in_executor", "create_task", "parallel_apply",
})  # fmt: skip
"""Calling one of these calls something once for each item."""

TORCH_CALLS_BACK = frozenset({
    "apply_", "map_", "map2_", "while_loop", "associative_scan", "scan", "map", "fori_loop",
})  # fmt: skip
"""Members of ``torch`` that call back."""

MODULE_ITERATORS = {
    "itertools": frozenset({
        "accumulate", "starmap", "takewhile", "dropwhile", "filterfalse", "groupby", "count",
        "cycle", "product", "permutations", "combinations", "combinations_with_replacement",
    }),
    "re": frozenset({"sub", "subn", "finditer", "Scanner"}),
    "functools": frozenset({"reduce"}),
}  # fmt: skip
"""Functions that are loops only as members of these modules."""

ITERATING_BUILTINS = frozenset({
    "sum", "max", "min", "list", "tuple", "zip", "any", "all", "set", "frozenset", "dict",
    "enumerate", "reversed", "sorted", "iter", "next",
})  # fmt: skip
"""Go through an argument, and are no loops by the rules of the assignments."""

KEYED = frozenset({"sorted", "max", "min", "sort", "nsmallest", "nlargest", "groupby", "merge"})
"""Call back for each item if they get ``key``."""

PROTOCOL = frozenset({
    "__iter__", "__next__", "__getitem__", "__aiter__", "__anext__", "__await__", "__contains__",
    "__missing__", "__length_hint__",
})  # fmt: skip
"""A class with one of these can be gone through by anything that iterates."""

REPEATED_BY_DUNDER = frozenset({
    "__del__", "__set_name__", "__init_subclass__", "__torch_function__", "__torch_dispatch__",
    "__array_function__", "__array_ufunc__", "__lt__", "__radd__",
})  # fmt: skip
"""A class with one of these may be called back by what looks like one operation."""

OPAQUE_NAMES = frozenset({
    "exec", "eval", "compile", "__import__", "import_module", "globals", "vars", "locals",
    "setattr", "delattr", "FunctionType", "CodeType", "LambdaType", "MethodType", "__code__",
    "__globals__", "__builtins__", "__dict__", "__subclasses__", "_getframe", "settrace",
    "setprofile", "gettrace", "monitoring", "load_inline", "load_library", "CDLL", "cdll",
    "PyDLL", "pythonapi", "loads", "exec_module", "run_path", "run_module", "find_library",
    "_DisableTorchDispatch", "_DisableFuncTorch", "DisableTorchFunctionSubclass",
    "DisableTorchFunction", "_disable_torch_dispatch", "disable_torch_dispatch",
    "_pop_torch_function_stack", "_pop_mode", "_pop_torch_dispatch_stack", "_get_dispatch_mode",
    "_get_current_dispatch_mode", "_get_current_function_mode", "_ExcludeDispatchKeyGuard",
    "_python_dispatch", "_AutoDispatchBelowAutograd",
    "TorchDispatchMode", "TorchFunctionMode", "_make_wrapper_subclass", "_make_subclass",
    "CompilationUnit", "_create_method_from_trace", "parse_ir", "njit", "guvectorize", "cfunc",
    "RawKernel", "system", "popen", "spawn", "fork", "Popen", "check_output", "check_call",
})  # fmt: skip
"""What follows from these cannot be read off the text."""

OPAQUE_MODULES = frozenset({
    "ctypes", "cffi", "numba", "triton", "marshal", "pickle", "dill", "cloudpickle", "code",
    "codeop", "dis", "gc", "inspect", "importlib", "subprocess", "multiprocessing", "pyximport",
    "Cython", "cython", "tvm", "jax", "cupy", "tensorflow", "runpy", "types", "ast", "bytecode",
    "llvmlite", "taichi", "numexpr", "onnxruntime", "grader",
})  # fmt: skip


def repeating(name: str, node: ast.Call, own: frozenset[str]) -> str:
    """Return what kind of loop a call is, or an empty string.

    Args:
        name: Resolved name of what is called, as ``Mention.name`` writes it.
        node: The call.
        own: Names that the file itself binds: ``submit`` may be a function of its own.
    """
    root, last = name.split(".", 1)[0], name.rsplit(".", 1)[-1]
    if last in KEYED and any(keyword.arg == "key" for keyword in node.keywords):
        return f"{last}(key=)"
    if last == "vmap" and any(keyword.arg == "chunk_size" for keyword in node.keywords):
        return "vmap(chunk_size=)"
    if root in MODULE_ITERATORS:
        return name if last in MODULE_ITERATORS[root] else ""
    if name == "builtins.iter" and len(node.args) == 2:
        return "iter(callable, …)"
    # A compiled pattern's: a tensor's “sub” takes no function.
    if last in ("sub", "subn") and node.args and isinstance(node.args[0], ast.Lambda):
        return "re.sub"
    if root == "torch":
        return last if last in TORCH_CALLS_BACK else ""
    # The file's own “submit” is followed like any call, and is a loop only if it has one.
    return last if last in CALLS_BACK and name not in own else ""


def more_levels(node: ast.expr | None) -> int:
    """Return how many loops ``product(a, b, …)`` saves."""
    if not isinstance(node, ast.Call) or (dotted(node.func) or [""])[-1] != "product":
        return 0
    repeat = next((word.value for word in node.keywords if word.arg == "repeat"), None)
    times = repeat.value if isinstance(repeat, ast.Constant) else 1
    # Bounded: hostile text may ask for 10**9 levels.
    levels = len(node.args) * times if type(times) is int and 0 < times < 9 else len(node.args)
    return max(levels - 1, 0)
