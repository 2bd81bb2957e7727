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

import torch
from torch import Tensor


def create_sample_tensor() -> Tensor:
    """Make a small matrix with two entries that are not zero.

    Returns:
        Shape (3, 2): 10 in row 0, column 1; 100 in row 1, column 0; zeros elsewhere. Any dtype.
    """
    raise NotImplementedError("create_sample_tensor is not written yet")


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
    raise NotImplementedError("mutate_tensor is not written yet")


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
    raise NotImplementedError("count_tensor_elements is not written yet")


def create_tensor_of_pi(M: int, N: int) -> Tensor:
    """Make a matrix in which every entry is 3.14.

    Args:
        M: Number of rows.
        N: Number of columns.

    Returns:
        Shape (M, N), filled with 3.14 (not with a more exact pi).
    """
    raise NotImplementedError("create_tensor_of_pi is not written yet")


def multiples_of_ten(start: int, stop: int) -> Tensor:
    """List the multiples of ten in a range that includes both of its ends.

    Args:
        start: First number of the range, not negative.
        stop: Last number of the range, not less than ``start``.

    Returns:
        Shape (K,) and dtype float64, in ascending order. Shape (0,) if there are none.
    """
    raise NotImplementedError("multiples_of_ten is not written yet")


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
    raise NotImplementedError("slice_indexing_practice is not written yet")


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
    raise NotImplementedError("slice_assignment_practice is not written yet")


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
    raise NotImplementedError("shuffle_cols is not written yet")


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
    raise NotImplementedError("reverse_rows is not written yet")


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
    raise NotImplementedError("take_one_elem_per_col is not written yet")


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
    raise NotImplementedError("make_one_hot is not written yet")


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
    raise NotImplementedError("sum_positive_entries is not written yet")


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
    raise NotImplementedError("reshape_practice is not written yet")


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
    raise NotImplementedError("zero_row_min is not written yet")


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
    raise NotImplementedError("batched_matrix_multiply_loop is not written yet")


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
    raise NotImplementedError("batched_matrix_multiply_noloop is not written yet")


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
    raise NotImplementedError("normalize_columns is not written yet")


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
    raise NotImplementedError("mm_on_gpu is not written yet")


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
    raise NotImplementedError("challenge_mean_tensors is not written yet")


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
    raise NotImplementedError("challenge_get_uniques is not written yet")
