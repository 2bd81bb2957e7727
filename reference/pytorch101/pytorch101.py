"""PyTorch 101: tensors, indexing, shapes, reductions, batches of matrices, and the GPU.

Hand in this file. Keep the names and the order of the parameters: the functions are found by name
and called with arguments in that order.

These hold for every function, unless its docstring says otherwise:

* Sizes differ from call to call. Letters in a shape such as (M, N) are sizes.
* Where the dtype of an input is not named, any may come, and the result keeps it.
* Inputs stay as they were. The two functions that write into their input say so.
* “No loops” forbids ``for``, ``while`` and every comprehension or generator, also one that only
  builds an index. The functions ``sum``, ``max``, ``range``, ``list`` and ``zip`` are no loops.
"""

# BEGIN HIDDEN
import numpy as np

# END HIDDEN
import torch
from torch import Tensor


def create_sample_tensor() -> Tensor:
    """Make a small matrix with two entries that are not zero.

    Returns:
        Shape (3, 2): 10 in row 0, column 1; 100 in row 1, column 0; zeros elsewhere. Any dtype.
    """
    # BEGIN SOLUTION
    x = torch.zeros(3, 2)
    x[0, 1] = 10
    x[1, 0] = 100
    return x
    # END SOLUTION


def mutate_tensor(x: Tensor, indices: list[tuple[int, int]], values: list[float]) -> Tensor:
    """Write numbers into a matrix, at given places, in order.

    Loops are allowed.

    Args:
        x: Shape (M, N). **Changed in place.**
        indices: Places as (row, column); maybe none. Where one comes twice, the last value stays.
        values: The number for each place; as many as there are places.

    Returns:
        ``x`` itself, not a copy.
    """
    # BEGIN SOLUTION
    for index, value in zip(indices, values, strict=True):
        x[index] = value
    return x
    # END SOLUTION


def count_tensor_elements(x: Tensor) -> int:
    """Count the numbers in a tensor.

    ``torch.numel`` and ``x.numel`` are not allowed, nor is the same of a shape
    (``x.shape.numel``) or of NumPy (``size``): that rule is worth half of the points. Loops are
    allowed.

    Args:
        x: Any rank from 1 up; no size is 0.

    Returns:
        A Python ``int``, not a tensor.

    Hint:
        ``x.shape`` behaves like a tuple of ints.
    """
    # BEGIN SOLUTION
    count = 1
    for size in x.shape:
        count *= size
    return count
    # END SOLUTION


def create_tensor_of_pi(M: int, N: int) -> Tensor:
    """Make a matrix in which every entry is 3.14.

    Args:
        M: Number of rows.
        N: Number of columns.

    Returns:
        Shape (M, N), filled with 3.14 (not with a more exact pi).
    """
    # BEGIN SOLUTION
    return torch.full((M, N), 3.14)
    # END SOLUTION


def multiples_of_ten(start: int, stop: int) -> Tensor:
    """List the multiples of ten in a range that includes both of its ends.

    Args:
        start: First number of the range, not negative.
        stop: Last number of the range, not less than ``start``.

    Returns:
        Shape (K,) and dtype float64, in ascending order. Shape (0,) if there are none.
    """
    # BEGIN SOLUTION
    numbers = torch.arange(start, stop + 1, dtype=torch.float64)
    return numbers[numbers % 10 == 0]
    # END SOLUTION


def slice_indexing_practice(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Look at four parts of a matrix through slices.

    Take each part with exactly one pair of brackets, ``x[...]``: ``x[0][:2]`` would be two. What
    comes out are views, which share memory with ``x``.

    Args:
        x: Shape (M, N), with M at least 3 and N at least 5.

    Returns:
        Four views of ``x``:

        * the last row, shape (N,);
        * the third column, shape (M, 1);
        * the first two rows of the first three columns, shape (2, 3);
        * the rows with even and the columns with odd numbers, counted from 0.

    Hint:
        A whole number in the brackets removes a dimension, a slice keeps it.
    """
    # BEGIN SOLUTION
    last_row = x[-1]
    third_column = x[:, 2:3]
    corner = x[:2, :3]
    even_rows_odd_columns = x[::2, 1::2]
    return last_row, third_column, corner, even_rows_odd_columns
    # END SOLUTION


def slice_assignment_practice(x: Tensor) -> Tensor:
    """Write a pattern into the corner of a matrix.

    The first four rows and six columns become ::

        0 1 2 2 2 2
        0 1 2 2 2 2
        3 4 3 4 5 5
        3 4 3 4 5 5

    and everything else stays as it was. Use at most six assignments of the form ``x[...] = number``
    with one Python number on the right: no tensors, no other part of ``x``, no ``+=``. Write to the
    tensor itself, not to its memory through ``x.numpy()``.

    Args:
        x: Shape (M, N), with M at least 4 and N at least 6. **Changed in place.**

    Returns:
        ``x`` itself, not a copy.
    """
    # BEGIN SOLUTION
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x
    # END SOLUTION


def shuffle_cols(x: Tensor) -> Tensor:
    """Put together a matrix from the columns of another.

    Use one integer-array index of ``x`` itself: one pair of brackets with a list or tensor of
    numbers in it. Other ways to the same numbers, by NumPy or a product, lose the points for that.

    Args:
        x: Shape (M, N), with N at least 3.

    Returns:
        A new tensor of shape (M, 4). Its columns are column 0 of ``x`` twice, then column 2, then
        column 1.
    """
    # BEGIN SOLUTION
    return x[:, [0, 0, 2, 1]]
    # END SOLUTION


def reverse_rows(x: Tensor) -> Tensor:
    """Turn a matrix upside down.

    Use one integer-array index of ``x`` itself. ``torch.flip`` of ``x`` and its relatives are not
    allowed; the index may be reversed in any way.

    Args:
        x: Shape (M, N).

    Returns:
        A new tensor of shape (M, N): the last row of ``x`` first, its first row last.

    Hint:
        Which list of M numbers names the rows in that order? It depends on M.
    """
    # BEGIN SOLUTION
    return x[list(range(x.shape[0] - 1, -1, -1))]
    # END SOLUTION


def take_one_elem_per_col(x: Tensor) -> Tensor:
    """Pick one entry from each of the first three columns.

    Use one integer-array index of ``x`` itself.

    Args:
        x: Shape (M, N), with M at least 4 and N at least 3.

    Returns:
        A new tensor of shape (3,): row 1 of column 0, row 0 of column 1, row 3 of column 2.

    Hint:
        Two lists in one pair of brackets are read side by side, as rows and columns of single
        entries.
    """
    # BEGIN SOLUTION
    return x[[1, 0, 3], [0, 1, 2]]
    # END SOLUTION


def make_one_hot(x: list[int]) -> Tensor:
    """Turn class numbers into rows of zeros with a one.

    No loops.

    Args:
        x: N numbers from 0 up, at least one; the greatest decides how many columns there are.

    Returns:
        Shape (N, 1 + greatest number) and dtype float32. Row i is 1 in column ``x[i]``, else 0.

    Hint:
        Begin with zeros. One assignment sets all ones, if its index names rows and columns.
    """
    # BEGIN SOLUTION
    one_hot = torch.zeros(len(x), max(x) + 1)
    one_hot[torch.arange(len(x)), x] = 1
    return one_hot
    # END SOLUTION


def sum_positive_entries(x: Tensor) -> int:
    """Add up the numbers above zero.

    No loops. One comparison gives a mask, one index with the mask gives the numbers.

    Args:
        x: Any shape, dtype int64.

    Returns:
        A Python ``int``, not a tensor; 0 if no number is above zero.

    Hint:
        ``.item()`` makes a Python number of a tensor that holds one.
    """
    # BEGIN SOLUTION
    return x[x > 0].sum().item()
    # END SOLUTION


def reshape_practice(x: Tensor) -> Tensor:
    """Arrange 24 numbers in three rows of two blocks.

    Only operations that rearrange: ``view``, ``reshape``, ``permute``, ``transpose`` and the like.

    Args:
        x: Shape (24,).

    Returns:
        Shape (3, 8). For the numbers 0 … 23 it would be ::

            0  1  2  3 12 13 14 15
            4  5  6  7 16 17 18 19
            8  9 10 11 20 21 22 23

    Hint:
        Cut the 24 numbers into blocks of four, by a shape of rank 3. Which two dimensions must
        change places before the blocks are joined again?
    """
    # BEGIN SOLUTION
    return x.view(2, 3, 4).transpose(0, 1).reshape(3, 8)
    # END SOLUTION


def zero_row_min(x: Tensor) -> Tensor:
    """Copy a matrix and set the least entry of each row to zero.

    No loops.

    Args:
        x: Shape (M, N). No row holds its least number twice.

    Returns:
        A new tensor of shape (M, N) and the dtype of ``x``; ``x`` itself stays as it was.

    Hint:
        ``argmin`` with a ``dim`` tells the column of each row's least entry. ``.clone()`` copies.
    """
    # BEGIN SOLUTION
    y = x.clone()
    y[torch.arange(x.shape[0]), x.argmin(dim=1)] = 0
    return y
    # END SOLUTION


def batched_matrix_multiply(x: Tensor, y: Tensor, use_loop: bool = True) -> Tensor:
    """Multiply each matrix of one batch by its partner in another. Given: nothing to do here.

    Args:
        x: Shape (B, N, M).
        y: Shape (B, M, P).
        use_loop: Which of the two functions below does the work.

    Returns:
        Shape (B, N, P).
    """
    if use_loop:
        return batched_matrix_multiply_loop(x, y)
    return batched_matrix_multiply_noloop(x, y)


def batched_matrix_multiply_loop(x: Tensor, y: Tensor) -> Tensor:
    """Multiply each matrix of one batch by its partner, one pair at a time.

    Write an explicit loop over the batch (``for``, ``while`` or a comprehension) in which each turn
    multiplies two matrices: it is worth half of the points. Products of whole batches
    (``torch.bmm``, or ``torch.matmul``, ``@`` and ``torch.einsum`` on tensors of rank 3) are the
    next function's business, and ``torch.bmm`` and ``torch.baddbmm`` cost points here.

    Args:
        x: Shape (B, N, M), with B at least 1.
        y: Shape (B, M, P), of the same dtype.

    Returns:
        Shape (B, N, P) and the dtype of ``x``; entry ``[i]`` is ``x[i]`` times ``y[i]``.

    Hints:
        * ``torch.mm`` multiplies two matrices.
        * Collect the products in a list and join them with ``torch.stack``, or set the result aside
          first and fill it. In the second case mind that ``torch.zeros`` makes float32 unless it is
          told otherwise, and that an assignment into it then loses digits without a word.
    """
    # BEGIN SOLUTION
    z = x.new_empty((x.shape[0], x.shape[1], y.shape[2]))
    for i in range(x.shape[0]):
        z[i] = torch.mm(x[i], y[i])
    return z
    # END SOLUTION


def batched_matrix_multiply_noloop(x: Tensor, y: Tensor) -> Tensor:
    """Multiply each matrix of one batch by its partner, all pairs at once.

    No loop of any kind: no ``for``, ``while``, comprehension, ``map`` or recursion. That rule is
    worth half of the points. A part of them is for speed: many small matrices must not take much
    longer than with one call of torch.

    Args:
        x: Shape (B, N, M), with B at least 1.
        y: Shape (B, M, P), of the same dtype.

    Returns:
        Shape (B, N, P) and the dtype of ``x``; entry ``[i]`` is ``x[i]`` times ``y[i]``.

    Hints:
        * ``torch.mm`` takes two matrices and nothing else; look for a relative that takes batches.
        * There are several right ways. One call is enough.
    """
    # BEGIN SOLUTION
    return torch.bmm(x, y)
    # END SOLUTION


def normalize_columns(x: Tensor) -> Tensor:
    """Shift and scale each column to mean 0 and standard deviation 1.

    For column j with entries ``x[0, j]`` … ``x[M-1, j]`` and mean m, the standard deviation is the
    square root of the sum of the squares ``(x[i, j] - m)**2`` divided by M - 1, not by M.

    No loops, and none of ``mean``, ``std`` and ``var`` in any spelling: build them from ``sum``,
    arithmetic and a square root. The rule on ``mean``, ``std`` and ``var`` is worth half of the
    points.

    Args:
        x: Shape (M, N), with M at least 2. No column is constant.

    Returns:
        A new tensor of shape (M, N) and the dtype of ``x``; ``x`` itself stays as it was.

    Hints:
        * ``x.sum(dim=0)`` adds up each column, so that N numbers are left. Check that you divide by
          the number of rows: on a square example a mix-up of rows and columns cannot be seen.
        * Broadcasting subtracts a vector of shape (N,) from each row of a tensor of shape (M, N).
    """
    # BEGIN SOLUTION
    rows = x.shape[0]
    centred = x - x.sum(dim=0) / rows
    deviation = ((centred**2).sum(dim=0) / (rows - 1)).sqrt()
    return centred / deviation
    # END SOLUTION


def mm_on_cpu(x: Tensor, w: Tensor) -> Tensor:
    """Multiply two matrices on the CPU. Given: nothing to do here.

    Args:
        x: Shape (B, M), on the CPU.
        w: Shape (M, P), on the CPU.

    Returns:
        Shape (B, P), on the CPU.
    """
    return x.mm(w)


def mm_on_gpu(x: Tensor, w: Tensor) -> Tensor:
    """Multiply two matrices on the GPU and bring the product back.

    Computing on the GPU is worth half of the points, with its speed, which is timed on a real one.
    Nothing but the two matrices may travel there, and each of them once.

    Args:
        x: Shape (B, M), on the CPU.
        w: Shape (M, P), on the CPU, of the same dtype.

    Returns:
        Shape (B, P) and the dtype of ``x``, **on the CPU**, though computed on the GPU.

    Hints:
        * Both operands must be on the GPU before they are multiplied.
        * ``x.cuda()`` does not move ``x``: it returns a copy on the GPU; work with the copy.
        * ``.cpu()`` brings a tensor back.
    """
    # BEGIN SOLUTION
    product = torch.mm(x.cuda(), w.cuda())
    return product.cpu()
    # END SOLUTION


def challenge_mean_tensors(xs: list[Tensor], ls: Tensor) -> Tensor:
    """Average each of many tensors of different lengths, all at once.

    No loops: that rule is worth half of the points. With N tensors of up to K numbers, N and K up
    to 10,000, it should take well under a second: memory may grow with N × K, not with N times all
    numbers. A small mean keeps its digits behind tensors of large numbers.

    Args:
        xs: N tensors of rank 1 and dtype float32; none is empty.
        ls: Their lengths. Shape (N,), dtype int64.

    Returns:
        Shape (N,), dtype float32: entry i is the mean of ``xs[i]``.

    Hint:
        ``torch.cat(xs)`` is one long tensor. Which numbers belong together, ``ls`` tells. A float32
        sum that runs through all of it loses digits of small means behind large ones.
    """
    # BEGIN SOLUTION
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    sums = torch.zeros(len(xs), dtype=torch.float64).index_add(0, owner, torch.cat(xs).double())
    return (sums / ls).float()
    # END SOLUTION


def challenge_get_uniques(x: Tensor) -> tuple[Tensor, Tensor]:
    """List the different values of a vector, each with the place where it comes first.

    No loops, and memory that grows with N: a comparison of all pairs does not fit. ``torch.unique``
    is allowed, and earns half of the points.

    Args:
        x: Shape (N,), dtype int64, N at least 1.

    Returns:
        Two int64 tensors of one shape (U,), U being the number of different values: the values, in
        any order, and for each of them the **lowest** i with ``x[i]`` equal to it.

    Hint:
        Sorting brings equal values together. Ask for a sort that keeps their order: without
        ``stable=True`` it need not, and does not from N = 17 on.
    """
    # BEGIN SOLUTION
    ordered, places = torch.sort(x, stable=True)
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first], places[first]
    # END SOLUTION


# BEGIN HIDDEN
def _dice(seed):
    """Return a generator of random numbers; numpy's, which is the same on every machine."""
    return np.random.default_rng(seed)


def writes(seed, M, N, K):
    """K writes into an M×N matrix, some of them to the same place."""
    dice = _dice(seed)
    x = torch.from_numpy(dice.integers(-9, 10, (M, N))).float()
    places = [(int(i), int(j)) for i, j in dice.integers(0, [M, N], (K, 2))]
    values = [int(value) for value in dice.integers(100, 1000, K)]
    return x, places + places[:2], [*values, 1001, 1002]


def bounds(seed):
    """A range of whole numbers that neither begins nor ends at a multiple of ten."""
    dice = _dice(seed)
    start = 10 * int(dice.integers(0, 30)) + int(dice.integers(1, 10))
    stop = 10 * int(dice.integers(60, 90)) + int(dice.integers(1, 10))
    return start, stop


def bounds_at_multiples(seed):
    """A range that begins and ends at a multiple of ten."""
    dice = _dice(seed)
    return 10 * int(dice.integers(1, 30)), 10 * int(dice.integers(60, 90))


def class_numbers(seed, N, C):
    """N class numbers below C as a list, the greatest of them not last and some missing."""
    numbers = [int(number) for number in 2 * _dice(seed).integers(0, C // 2, N)]
    return ([*numbers[: N // 2], C, *numbers[N // 2 :]],)


def notebook_x2(seed):  # noqa: ARG001  # the data are the notebook's, whatever the seed
    """The third tensor of the notebook, whose positive entries sum to 1871."""
    generator = torch.Generator().manual_seed(598)
    return (torch.randn(100, 100, generator=generator).long(),)


def distinct(seed, M, N):
    """An M×N matrix of whole numbers, none of them twice, none 0."""
    numbers = _dice(seed).permutation(M * N).reshape(M, N)
    return (torch.from_numpy(numbers) - M * N - 1,)


def distinct_positive(seed, M, N):
    """The same above zero, so that 0 in place of a minimum shows."""
    return (-distinct(seed, M, N)[0],)


def minima_elsewhere(seed, M, N):
    """An M×N matrix in which the least number of a row also stands in others, but not least."""
    dice = _dice(seed)
    rows = [dice.permutation(np.arange(row, row + N)) for row in range(M)]
    return (torch.from_numpy(np.stack(rows)[dice.permutation(M)] + 1),)


def ragged(seed, N, K):
    """N vectors of lengths 1 … K, not centred on 0, and some of them all zero."""
    dice = _dice(seed)
    lengths = [1, K, *(int(n) for n in dice.integers(1, K + 1, N - 2))]
    dice.shuffle(lengths)
    shifts = dice.normal(0.0, 2.0, N)
    xs = [dice.standard_normal(n) + shift for n, shift in zip(lengths, shifts, strict=True)]
    xs[N // 2] = np.zeros(lengths[N // 2])
    xs[0][0] = 0.0
    tensors = [torch.from_numpy(x).float() for x in xs]
    return tensors, torch.tensor(lengths)


def large_beside_small(seed, N, K):
    """The same with one vector of large numbers, whose digits must not end up in other means."""
    xs, lengths = ragged(seed, N, K)
    xs[1] = 1e4 + xs[1].abs()
    return xs, lengths


def repeated(seed, N, U):
    """N whole numbers, at most U different ones, negative ones among them."""
    return (torch.from_numpy(_dice(seed).integers(-U // 2, U // 2, N)),)


def make_one_hot_loop(x):
    """What ``make_one_hot`` does, row by row."""
    one_hot = torch.zeros(len(x), max(x) + 1)
    for i, number in enumerate(x):
        one_hot[i, number] = 1
    return one_hot


def sum_positive_entries_loop(x):
    """What ``sum_positive_entries`` does, number by number."""
    total = 0
    for number in x.flatten():
        if number > 0:
            total += number.item()
    return total


def zero_row_min_loop(x):
    """What ``zero_row_min`` does, row by row."""
    y = x.clone()
    for row in y:
        row[row.argmin()] = 0
    return y


def normalize_columns_loop(x):
    """What ``normalize_columns`` does, column by column."""
    columns = []
    for column in x.t():
        centred = column - column.sum() / len(column)
        columns.append(centred / ((centred**2).sum() / (len(column) - 1)).sqrt())
    return torch.stack(columns, dim=1)


def challenge_get_uniques_loop(x):
    """What ``challenge_get_uniques`` does, number by number."""
    places = {}
    for i in range(len(x)):
        places.setdefault(x[i].item(), i)
    return torch.tensor(list(places)), torch.tensor(list(places.values()))


# END HIDDEN
