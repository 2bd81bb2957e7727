"""The likely causes of wrong answers, in English: a sentence for each id of ``grader.checks``.

Each says what the numbers look like, then what to do. On a hidden case only a sentence without
blanks is told, and a blank has a template without one to fall back on.
"""

from __future__ import annotations

from collections.abc import Mapping

from grader.report import words_en_devices
from grader.report.words_en_intake import Sentence

CAUSES: Mapping[str, Sentence] = {
    "transposed": ("Looks transposed: rows and columns are swapped.",),
    "divisor": ("Looks like a divisor of M where M - 1 is asked for, or the other way round.",),
    "wrong_axis": ("Looks computed along the wrong axis: rows and columns are mixed up.",),
    "rooted": ("Looks like the square root of what is asked for: leave the root out.",),
    "squared": ("Looks like the square of what is asked for: a root is missing.",),
    "negated": ("The sign is reversed everywhere.",),
    "scaled": (
        (
            "Every element is {factor} times what it should be.",
            "Every element is off by the same factor.",
        ),
    ),
    "offset": (
        (
            "Every element is off by the same amount, {offset}.",
            "Every element is off by the same amount.",
        ),
    ),
    "exclusive_end": ("Looks right but for the last entry, which is missing: the end counts too.",),
    "exclusive_start": ("Looks right but for the first entry, which is missing.",),
    "one_too_many": ("Looks right but for one entry too many at the end.",),
    "reversed": ("Looks right but in reverse order.",),
    "rows_permuted": ("The right rows, in the wrong order.",),
    "columns_permuted": ("The right columns, in the wrong order.",),
    "only_last": ("Only the last item is right: is the result overwritten in each turn?",),
    "only_first": ("Only the first item is right: does a loop end, or return, in its first turn?",),
    "all_zero": ("Every element is 0: is the result ever written?",),
    "truncated": (
        "Looks cut off or rounded to whole numbers: mind //, .int(), .long() and integer dtypes.",
    ),
    "single_precision": (
        "Right to float32 only: somewhere on the way float64 was lost, in torch.zeros(…) without "
        "a dtype, for instance.",
    ),
    "low_precision": (
        "Right to a few digits only: the right formula at low precision, or one that cancels.",
    ),
    "nan_all": ("Every element is NaN, as 0/0, ∞ - ∞ and the root of a negative number are.",),
    "nan_some": (
        "NaN comes of 0/0, of ∞ - ∞, of the root of a negative number, and of memory that "
        "was never written.",
    ),
    "infinite": ("Infinity comes of a division by 0, or of a number too large for the dtype.",),
    "extra_axis": ("The numbers are right; an axis of size 1 is too many.",),
    "missing_axis": ("The numbers are right; an axis of size 1 is missing.",),
    "square_only": (
        "Right for square inputs, wrong for others: rows and columns are mixed up somewhere.",
    ),
    "wrong_partner": ("The first part is right; what stands beside it does not belong to it.",),
    "dtype_lost": (
        "Mind that torch.zeros, torch.ones and the like make float32 unless they are told "
        "otherwise: give them dtype=x.dtype.",
    ),
    "dtype_whole": ("Whole numbers come of //, of torch.arange and of torch.tensor([1, 2]).",),
    "left_on_gpu": ("The result never came back from the GPU: .cpu() brings it.",),
    "never_on_gpu": (
        "It was never moved: x.cuda() and x.to(…) return a copy, and leave x where it is.",
    ),
    "tensor_for_number": ("A tensor of rank 0 is no Python number; .item() makes one of it.",),
    "numpy_for_tensor": ("A numpy array is no tensor; torch.from_numpy(…) makes one of it.",),
    "list_for_tensor": ("Make one tensor of it: torch.stack, torch.cat or torch.tensor does.",),
    **words_en_devices.CAUSES,
}
"""Cause → sentence."""
