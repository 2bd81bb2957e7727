"""The likely causes of wrong answers, in Korean. Data only; see ``words_en_causes``."""

from __future__ import annotations

from collections.abc import Mapping

from grader.report.words_en_intake import Sentence

CAUSES: Mapping[str, Sentence] = {
    "transposed": ("전치된 것 같습니다. 행과 열이 서로 바뀌었습니다.",),
    "divisor": ("M - 1로 나눌 곳에서 M으로 나눴거나, 그 반대인 것 같습니다.",),
    "wrong_axis": ("다른 축을 따라 계산한 것 같습니다. 행과 열이 뒤섞였습니다.",),
    "rooted": ("구할 값의 제곱근인 것 같습니다. 제곱근을 빼세요.",),
    "squared": ("구할 값의 제곱인 것 같습니다. 제곱근이 빠졌습니다.",),
    "negated": ("모든 부호가 반대입니다.",),
    "scaled": (("모든 원소가 맞는 값의 {factor}배입니다.", "모든 원소가 같은 배율만큼 다릅니다."),),
    "offset": (("모든 원소가 똑같이 {offset}만큼 다릅니다.", "모든 원소가 같은 값만큼 다릅니다."),),
    "exclusive_end": ("마지막 항목만 빠진 것 같습니다. 끝도 포함됩니다.",),
    "exclusive_start": ("첫 항목만 빠진 것 같습니다.",),
    "one_too_many": ("끝에 항목이 하나 더 있는 것 같습니다.",),
    "reversed": ("순서가 거꾸로인 것 같습니다.",),
    "rows_permuted": ("행은 맞지만 순서가 다릅니다.",),
    "columns_permuted": ("열은 맞지만 순서가 다릅니다.",),
    "only_last": ("마지막 항목만 맞습니다. 반복할 때마다 결과를 덮어쓰고 있지 않나요?",),
    "only_first": ("첫 항목만 맞습니다. 반복문이 첫 번째에서 끝나거나 return하지 않나요?",),
    "all_zero": ("모든 원소가 0입니다. 결과를 써넣고 있나요?",),
    "truncated": (
        "정수로 잘리거나 반올림된 것 같습니다. //, .int(), .long(), 정수 dtype을 확인하세요.",
    ),
    "single_precision": (
        "float32까지만 맞습니다. 도중에 float64를 잃었습니다. 예: dtype 없는 torch.zeros(…).",
    ),
    "low_precision": (
        "몇 자리까지만 맞습니다. 식은 맞지만 정밀도가 낮거나, 자릿수가 상쇄되는 식입니다.",
    ),
    "nan_all": ("모든 원소가 NaN입니다. 0/0, ∞ - ∞, 음수의 제곱근에서 생깁니다.",),
    "nan_some": ("NaN은 0/0, ∞ - ∞, 음수의 제곱근, 써넣지 않은 메모리에서 생깁니다.",),
    "infinite": ("무한대는 0으로 나누거나 dtype에 비해 너무 큰 수에서 생깁니다.",),
    "extra_axis": ("숫자는 맞지만 크기 1인 축이 하나 더 있습니다.",),
    "missing_axis": ("숫자는 맞지만 크기 1인 축이 하나 없습니다.",),
    "square_only": ("정사각 입력에서만 맞습니다. 어딘가에서 행과 열이 뒤섞였습니다.",),
    "wrong_partner": ("앞부분은 맞지만 그 옆의 것이 짝이 아닙니다.",),
    "dtype_lost": (
        "torch.zeros, torch.ones 등은 따로 말하지 않으면 float32를 만듭니다. "
        "dtype=x.dtype을 넘기세요.",
    ),
    "dtype_whole": ("정수는 //, torch.arange, torch.tensor([1, 2])에서 생깁니다.",),
    "left_on_gpu": ("결과가 GPU에서 돌아오지 않았습니다. .cpu()로 가져오세요.",),
    "never_on_gpu": (
        "옮겨지지 않았습니다. x.cuda()와 x.to(…)는 복사본을 돌려주고 x는 그 자리에 둡니다.",
    ),
    "tensor_for_number": ("0차원 텐서는 파이썬 수가 아닙니다. .item()으로 바꾸세요.",),
    "numpy_for_tensor": ("numpy 배열은 텐서가 아닙니다. torch.from_numpy(…)로 바꾸세요.",),
    "list_for_tensor": ("텐서 하나로 만드세요. torch.stack, torch.cat, torch.tensor가 있습니다.",),
}
"""Cause → sentence."""
