# Docstrings and comments in Korean.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    """배치의 각 행렬 쌍을 반복문으로 곱한다."""
    결과 = []
    for i in range(x.shape[0]):  # 한 번에 한 쌍씩
        결과.append(x[i].mm(y[i]))
    return torch.stack(결과, dim=0)


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    """각 열의 평균을 0, 표준편차를 1로 만든다."""
    평균 = x.sum(dim=0) / x.shape[0]
    표준편차 = torch.sqrt(((x - 평균) ** 2).sum(dim=0) / (x.shape[0] - 1))
    return (x - 평균) / 표준편차


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
