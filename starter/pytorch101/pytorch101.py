"""PyTorch 101: products of matrices one by one, in batches, and on the GPU.

Hand in this file. Keep the names and the order of the parameters: the functions are found by name
and called with arguments in that order.

Words used below: B is the number of matrices in a batch; N, M and P are the sizes of the matrices.
Sizes differ from call to call, and B may be 1. Tensors are float32 or float64, and a result has the
dtype of its inputs. No function may change its inputs.
"""

import torch
from torch import Tensor


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
    multiplies two matrices. Products of whole batches (``torch.bmm``, or ``torch.matmul``, ``@``
    and ``torch.einsum`` on tensors of rank 3) are the next function's business.

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

    No loop of any kind: no ``for``, ``while``, comprehension, ``map`` or recursion.

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
    arithmetic and a square root.

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
