# Honest and unusual: what people write around right functions. The line `# solution` stands for a right
# solution; `# decorate: NAME` puts @NAME above each of its functions, also above methods of its classes.


# %% editor_turtle
# An editor completed a name.
from turtle import forward
# solution

# %% editor_tkinter_messagebox
from tkinter import messagebox
# solution

# %% editor_antigravity_idle
from idlelib.run import flush_stdout
# solution

# %% editor_email
from email.policy import default
# solution

# %% editor_distutils_like
from unittest.mock import patch
from cProfile import label
# solution

# %% editor_ast
from ast import Index, Slice
from cmath import inf
# solution

# %% editor_xml
from xml.dom.minidom import Identified
# solution

# %% editor_torch_internals
from torch._C import dtype
from torch.fx import Graph
# solution

# %% editor_torch_functional_internals
from torch.nn.modules import linear
from torch.nn.functional import one_hot as hot
from torch.utils.data import dataset
# solution

# %% editor_sympy
try:
    from sympy import Matrix
except ImportError:
    Matrix = None
# solution

# %% colab_modules
import sys
IN_COLAB = "google.colab" in sys.modules
# solution

# %% colab_drive
try:
    from google.colab import drive
    drive.mount("/content/drive")
except ImportError:
    pass
# solution

# %% colab_get_ipython
try:
    get_ipython().run_line_magic("matplotlib", "inline")
except NameError:
    pass
# solution

# %% notebook_autoreload
try:
    import IPython
    shell = IPython.get_ipython()
    if shell is not None:
        shell.run_line_magic("load_ext", "autoreload")
except ImportError:
    pass
# solution

# %% repr_shows_shapes
# A debugging habit: the editor's list of variables shows shapes.
import torch
_plain_repr = torch.Tensor.__repr__
def _with_shape(self, **options):
    return f"{tuple(self.shape)} {_plain_repr(self, **options)}"
torch.Tensor.__repr__ = _with_shape
# solution

# %% print_options
import numpy as np
import torch
torch.set_printoptions(precision=4, sci_mode=False, linewidth=120)
np.set_printoptions(suppress=True)
# solution

# %% deterministic
import os, random
import numpy as np
import torch
os.environ["PYTHONHASHSEED"] = "0"
random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
torch.use_deterministic_algorithms(True, warn_only=True)
# solution

# %% backends
import torch
torch.backends.cudnn.benchmark = False
torch.backends.cudnn.deterministic = True
torch.set_num_threads(1)
# solution

# %% default_dtype_set_back
import torch
_before = torch.get_default_dtype()
torch.set_default_dtype(torch.float64)
_pi = torch.tensor(3.141592653589793)
torch.set_default_dtype(_before)
# solution

# %% timed_decorator
import functools, time
def timed(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        start = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            inner.seconds = time.perf_counter() - start
    return inner
# decorate: timed
# solution

# %% plain_decorator
def noisy(function):
    def inner(*args, **kwargs):
        result = function(*args, **kwargs)
        return result
    return inner
# decorate: noisy
# solution

# %% logging_decorator
import functools, logging
log = logging.getLogger(__name__)
def logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        log.debug("%s(%s)", function.__name__, [getattr(each, "shape", each) for each in args])
        return function(*args, **kwargs)
    return inner
# decorate: logged
# solution

# %% shape_checks_by_annotation
# Checks at each call that what is annotated as a tensor is one.
import functools, inspect
import torch
def checked(function):
    signature = inspect.signature(function)
    @functools.wraps(function)
    def inner(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            if signature.parameters[name].annotation is torch.Tensor:
                assert isinstance(value, torch.Tensor), name
        return function(*args, **kwargs)
    return inner
# decorate: checked
# solution

# %% type_hints_read
import functools, typing
def typed(function):
    hints = typing.get_type_hints(function)
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    inner.hints = hints
    return inner
# decorate: typed
# solution

# %% class_decorator
class Counted:
    def __init__(self, function):
        self.function = function
        self.calls = 0
        self.__doc__ = function.__doc__
    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.function(*args, **kwargs)
    def __get__(self, owner, kind=None):
        return self if owner is None else lambda *args, **kwargs: self(owner, *args, **kwargs)
# decorate: Counted
# solution

# %% registry
REGISTRY = {}
def register(function):
    REGISTRY[function.__name__] = function
    return function
# decorate: register
# solution

# %% plugin_by_subclass
class Plugin:
    found = []
    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        Plugin.found.append(cls)
class First(Plugin):
    pass
# solution

# %% metaclass
class Meta(type):
    def __new__(mcs, name, bases, members):
        members.setdefault("made_by", "Meta")
        return super().__new__(mcs, name, bases, members)
class Base(metaclass=Meta):
    pass
# solution

# %% no_grad_decorator
import torch
# solution
if __name__ == "__main__":
    with torch.no_grad():
        print("nothing to do")

# %% isinstance_tensor
import torch
def is_tensor(value):
    return isinstance(value, torch.Tensor)
assert is_tensor(torch.zeros(1))
# solution

# %% match_classes
import torch
from dataclasses import dataclass
@dataclass
class Shape:
    rows: int
    columns: int
def kind(value):
    match value:
        case Shape(rows=1):
            return "row"
        case torch.Tensor(ndim=2):
            return "matrix"
        case _:
            return "other"
kind(Shape(1, 2))
# solution

# %% getattr_of_functional
import torch.nn.functional as F
NAMES = ["relu", "softmax", "one_hot"]
TABLE = {name: getattr(F, name) for name in NAMES}
# solution

# %% getattr_dtype_by_text
import torch
def dtype_of(text):
    return getattr(torch, text)
FLOATS = [dtype_of(f"float{bits}") for bits in (16, 32, 64)]
# solution

# %% operator_methodcaller
import operator
shape_of = operator.attrgetter("shape")
total = operator.methodcaller("sum")
# solution

# %% globals_listing
PUBLIC = [name for name in globals() if not name.startswith("_")]
# solution

# %% vars_of_arguments
import argparse
options = vars(argparse.Namespace(seed=0, rows=3))
# solution

# %% caller_name
import inspect
def whoami():
    return inspect.currentframe().f_back.f_code.co_name
# solution

# %% getframe_logging
import sys
def line():
    return sys._getframe(1).f_lineno
# solution

# %% traceback_print
import sys, traceback
def report():
    traceback.print_exception(*sys.exc_info())
# solution

# %% excepthook
import sys
def _hook(kind, value, trace):
    print("failed:", value)
    sys.__excepthook__(kind, value, trace)
sys.excepthook = _hook
# solution

# %% gc_tensors
# From a forum: counts tensors that are alive.
import gc
import torch
def alive():
    return sum(1 for each in gc.get_objects() if torch.is_tensor(each))
# solution

# %% gc_collect
import gc
gc.collect()
gc.disable()
gc.enable()
# solution

# %% weak_cache
import weakref
CACHE = weakref.WeakValueDictionary()
# solution

# %% lru_cache_helper
import functools
@functools.lru_cache(maxsize=None)
def sizes(n):
    return tuple(range(n))
sizes(3)
# solution

# %% singledispatch
import functools
import torch
@functools.singledispatch
def describe(value):
    return "something"
@describe.register
def _(value: torch.Tensor):
    return "a tensor"
@describe.register
def _(value: list):
    return "a list"
# solution

# %% partial_and_reduce
import functools, operator
product = functools.partial(functools.reduce, operator.mul)
assert product([1, 2, 3]) == 6
# solution

# %% contextmanager
import contextlib, time
@contextlib.contextmanager
def stopwatch(name):
    start = time.time()
    yield
    print(name, time.time() - start)
# solution

# %% redirect_stdout
import contextlib, io
with contextlib.redirect_stdout(io.StringIO()) as text:
    print("hidden")
# solution

# %% suppress_warnings
import warnings
warnings.filterwarnings("ignore")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
# solution

# %% warnings_showwarning
import warnings
def _short(message, category, filename, lineno, file=None, line=None):
    print(f"{category.__name__}: {message}")
warnings.showwarning = _short
# solution

# %% thread_timer
import threading
def tick():
    return None
timer = threading.Thread(target=tick, daemon=True)
timer.start()
timer.join()
# solution

# %% executor_at_import
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as pool:
    SQUARES = list(pool.map(lambda n: n * n, range(4)))
# solution

# %% queue_logger
import logging, logging.handlers, queue
_queue = queue.Queue()
logging.getLogger("mine").addHandler(logging.handlers.QueueHandler(_queue))
# solution

# %% asyncio_run
import asyncio
async def nothing():
    return 1
assert asyncio.run(nothing()) == 1
# solution

# %% atexit_message
import atexit
atexit.register(lambda: None)
# solution

# %% signal_handler
import signal
try:
    signal.signal(signal.SIGINT, signal.default_int_handler)
except ValueError:
    pass
# solution

# %% faulthandler
import faulthandler
try:
    faulthandler.enable()
except Exception:
    pass
# solution

# %% resource_memory
import resource
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
# solution

# %% tracemalloc
import tracemalloc
tracemalloc.start()
tracemalloc.stop()
# solution

# %% cprofile
import cProfile, pstats, io
def profile(function, *args):
    run = cProfile.Profile()
    result = run.runcall(function, *args)
    pstats.Stats(run, stream=io.StringIO()).print_stats(3)
    return result
# solution

# %% torch_profiler
import torch
from torch.profiler import profile, ProfilerActivity
def profiled(function, *args):
    with profile(activities=[ProfilerActivity.CPU]) as p:
        result = function(*args)
    return result
# solution

# %% benchmark_timer
import torch.utils.benchmark as benchmark
def seconds(function, *args):
    return benchmark.Timer(stmt="f(*a)", globals={"f": function, "a": args}).timeit(3).mean
# solution

# %% timeit_text
import timeit
assert timeit.timeit("1 + 1", number=3) < 60
# solution

# %% doctest_main
def double(x):
    """Double it.

    >>> double(2)
    4
    """
    return 2 * x
# solution
if __name__ == "__main__":
    import doctest
    doctest.testmod()

# %% unittest_class
import unittest
class TestMine(unittest.TestCase):
    def test_one(self):
        self.assertEqual(1, 1)
# solution
if __name__ == "__main__":
    unittest.main()

# %% pytest_import
try:
    import pytest
except ImportError:
    pytest = None
# solution

# %% pdb_left
import pdb
DEBUG = False
if DEBUG:
    pdb.set_trace()
# solution

# %% breakpoint_left
import os
if os.environ.get("MY_DEBUG"):
    breakpoint()
# solution

# %% eval_constant
SIZE = eval("2 + 3")
# solution

# %% exec_namespace
code = "a = 1\nb = 2"
namespace = {}
exec(code, namespace)
assert namespace["b"] == 2
# solution

# %% literal_eval
import ast
SETTINGS = ast.literal_eval("{'k': 3}")
# solution

# %% dynamic_import
import importlib
functional = importlib.import_module("torch.nn.functional")
# solution

# %% reload
import importlib, math
math = importlib.reload(math)
# solution

# %% find_spec
import importlib.util
HAVE_TQDM = importlib.util.find_spec("tqdm") is not None
# solution

# %% metadata_version
from importlib.metadata import version
TORCH = version("torch")
# solution

# %% optional_numba
try:
    from numba import njit
except ImportError:
    def njit(function):
        return function
@njit
def add(a, b):
    return a + b
# solution

# %% optional_jaxtyping
try:
    from jaxtyping import Float
except ImportError:
    class Float:
        def __class_getitem__(cls, item):
            return cls
# solution

# %% lazy_module_attribute
def __getattr__(name):
    raise AttributeError(name)
# solution

# %% module_all_and_dir
__all__ = ["anything"]
anything = 0
def __dir__():
    return __all__
# solution

# %% sys_path
import os, sys
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
# solution

# %% sys_modules_alias
import sys
me = sys.modules[__name__]
# solution

# %% recursion_limit
import sys
sys.setrecursionlimit(5000)
# solution

# %% stdout_encoding
import sys
try:
    sys.stdout.reconfigure(encoding="utf-8")
except AttributeError:
    pass
# solution

# %% tee_output
import sys
class Tee:
    def __init__(self, *streams):
        self.streams = streams
    def write(self, text):
        for stream in self.streams:
            stream.write(text)
    def flush(self):
        for stream in self.streams:
            stream.flush()
# solution

# %% pickle_of_settings
import pickle
saved = pickle.dumps({"rows": 3})
assert pickle.loads(saved)["rows"] == 3
# solution

# %% torch_save_and_load
import io
import torch
_buffer = io.BytesIO()
torch.save({"w": torch.ones(2)}, _buffer)
_buffer.seek(0)
assert torch.load(_buffer)["w"].sum() == 2
# solution

# %% numpy_save_and_load
import io
import numpy as np
_file = io.BytesIO()
np.save(_file, np.arange(3))
_file.seek(0)
assert np.load(_file).sum() == 3
# solution

# %% struct_and_ctypes
import struct, ctypes
BYTES = struct.pack("<i", ctypes.sizeof(ctypes.c_int))
# solution

# %% hashing
import base64, hashlib
DIGEST = base64.b64encode(hashlib.sha256(b"me").digest()).decode()
# solution

# %% dataclass_config
import dataclasses, enum, typing
class Mode(enum.Enum):
    FAST = "fast"
@dataclasses.dataclass(frozen=True)
class Config:
    mode: Mode = Mode.FAST
    rows: typing.Optional[int] = None
CONFIG = dataclasses.replace(Config(), rows=3)
# solution

# %% setattr_config
class Settings:
    pass
settings = Settings()
for _key, _value in {"rows": 3, "columns": 4}.items():
    setattr(settings, _key, _value)
# solution

# %% monkey_patched_own_class
class Model:
    pass
def forward(self, x):
    return x
Model.forward = forward
# solution

# %% tensor_method_added
# A habit from other libraries: x.numpyfy().
import torch
torch.Tensor.numpyfy = lambda self: self.detach().cpu().numpy()
# solution

# %% einops_or_not
try:
    from einops import rearrange
except ImportError:
    def rearrange(x, pattern):
        raise ImportError("einops")
# solution

# %% jit_script_helper
import torch
@torch.jit.script
def half(x: torch.Tensor) -> torch.Tensor:
    return x / 2
# solution

# %% function_mode_debugging
# Prints each call of torch while it is switched on.
import torch
from torch.overrides import TorchFunctionMode
class Printing(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        print(func)
        return func(*args, **(kwargs or {}))
# solution

# %% subclass_of_tensor
import torch
class Named(torch.Tensor):
    @staticmethod
    def __new__(cls, data, name=""):
        made = torch.as_tensor(data).as_subclass(cls)
        made.name = name
        return made
# solution

# %% autograd_function
import torch
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad
# solution

# %% gradcheck_helper
import torch
def checked_gradient(function, x):
    return torch.autograd.gradcheck(function, x.double().requires_grad_())
# solution

# %% walrus_and_star
first, *rest = range(4)
if (count := len(rest)) > 2:
    pass
# solution

# %% global_counter
CALLS = 0
def counted(function):
    def inner(*args, **kwargs):
        global CALLS
        CALLS += 1
        return function(*args, **kwargs)
    inner.__name__ = function.__name__
    inner.__wrapped__ = function
    return inner
# decorate: counted
# solution

# %% tqdm_progress
try:
    from tqdm.auto import tqdm
except ImportError:
    def tqdm(each, **options):
        return each
for _ in tqdm(range(2), disable=True):
    pass
# solution

# %% environment_guard
import platform, sys
assert sys.version_info >= (3, 8), platform.python_version()
# solution

# %% multiprocessing_method
import multiprocessing
try:
    multiprocessing.set_start_method("spawn", force=True)
except RuntimeError:
    pass
# solution

# %% subprocess_version
# Asks git for the state of the checkout, as templates of experiments do.
import subprocess
try:
    COMMIT = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True).stdout
except OSError:
    COMMIT = ""
# solution
