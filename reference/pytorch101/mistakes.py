# Known mistakes of pytorch101. docs/authoring.md explains the cells.

import torch


# %% sample_swapped
# says: The two numbers are in each other's places: 10 belongs in row 0, column 1.
# says-ko: 두 수의 자리가 서로 바뀌었습니다. 10은 0행 1열에 있어야 합니다.

def create_sample_tensor():
    x = torch.zeros(3, 2)
    x[1, 0] = 10
    x[0, 1] = 100
    return x


# %% mutate_adds
# says: You added the values to what was there; they are to replace it.
# says-ko: 있던 값에 더했습니다. 더하지 말고 그 값으로 바꾸어야 합니다.
# earns: 0.5

def mutate_tensor(x, indices, values):
    for index, value in zip(indices, values):
        x[index] += value
    return x


# %% count_adds_sizes
# says: You added the sizes; the number of elements is their product.
# says-ko: 크기를 더했습니다. 원소의 수는 크기의 곱입니다.
# earns: 0.9
# voids: no_numel

def count_tensor_elements(x):
    return sum(x.shape)


# %% count_rows
# says: You counted the rows alone: len(x) and x.shape[0] are the first size.
# says-ko: 행만 세었습니다. len(x)와 x.shape[0]은 첫 번째 크기입니다.
# earns: 0.2
# voids: no_numel

def count_tensor_elements(x):
    return len(x)


# %% pi_columns_first
# says: Rows and columns are swapped: M is the number of rows.
# says-ko: 행과 열이 바뀌었습니다. M이 행의 수입니다.

def create_tensor_of_pi(M, N):
    return torch.full((N, M), 3.14)


# %% pi_exact
# says: You filled it with a more exact pi; the number asked for is 3.14.
# says-ko: 더 정확한 원주율로 채웠습니다. 요구한 수는 3.14입니다.

def create_tensor_of_pi(M, N):
    return torch.full((M, N), torch.pi)


# %% multiples_exclusive_stop
# says: A stop that is a multiple of ten is missing: torch.arange and range leave their end out.
# says-ko: stop이 10의 배수일 때 빠졌습니다. torch.arange와 range는 끝을 포함하지 않습니다.
# earns: 0.5

def multiples_of_ten(start, stop):
    x = torch.arange(start, stop, dtype=torch.float64)
    return x[x % 10 == 0]


# %% multiples_from_below
# says: The list may begin with the multiple of ten below start; the first one is start or above it.
# says-ko: start보다 작은 10의 배수로 시작합니다. 첫 수는 start 이상이어야 합니다.
# earns: 0.5

def multiples_of_ten(start, stop):
    return torch.arange(start // 10 * 10, stop + 1, 10, dtype=torch.float64)


# %% multiples_from_start
# says: You counted in tens from start on; multiples of ten end in 0.
# says-ko: start에서 10씩 세었습니다. 10의 배수는 0으로 끝납니다.
# earns: 0.3

def multiples_of_ten(start, stop):
    return torch.arange(start, stop + 1, 10, dtype=torch.float64)


# %% slices_odd_and_even
# says: The fourth part has the rows with odd and the columns with even numbers; it is the other way round.
# says-ko: 네 번째 부분이 홀수 행과 짝수 열입니다. 반대로 짝수 행과 홀수 열이어야 합니다.
# earns: 0.75

def slice_indexing_practice(x):
    return x[-1], x[:, 2:3], x[:2, :3], x[1::2, ::2]


# %% slices_third_row
# says: The first part is row 2, which is the last row only where there are three.
# says-ko: 첫 부분이 2행입니다. 행이 셋일 때만 마지막 행입니다.
# earns: 0.75

def slice_indexing_practice(x):
    return x[2], x[:, 2:3], x[:2, :3], x[::2, 1::2]


# %% slices_column_flat
# says: The third column comes with shape (M,): a number in the brackets removes a dimension, a slice
#   keeps it.
# says-ko: 세 번째 열의 shape이 (M,)입니다. 대괄호 안의 수는 차원을 없애고 slice는 남깁니다.
# earns: 0.75

def slice_indexing_practice(x):
    return x[-1], x[:, 2], x[:2, :3], x[::2, 1::2]


# %% assign_to_the_last_column
# says: You wrote up to the last column; the pattern ends with column 5.
# says-ko: 마지막 열까지 썼습니다. 무늬는 5열에서 끝납니다.
# earns: 0.7

def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:] = 5
    return x


# %% assign_to_the_last_row
# says: You wrote down to the last row; the pattern ends with row 3.
# says-ko: 마지막 행까지 썼습니다. 무늬는 3행에서 끝납니다.
# earns: 0.7

def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:, 0:4:2] = 3
    x[2:, 1:4:2] = 4
    x[2:, 4:6] = 5
    return x


# %% assign_zero_omitted
# says: The zeros in column 0 of the pattern are missing: what stood there is left.
# says-ko: 무늬의 0열에 0이 빠졌습니다. 있던 값이 남아 있습니다.
# earns: 0.7

def slice_assignment_practice(x):
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x


# %% shuffle_in_order
# says: You took columns 0, 0, 1, 2; column 2 comes before column 1.
# says-ko: 0, 0, 1, 2열을 가져왔습니다. 2열이 1열보다 먼저입니다.
# earns: 0.5

def shuffle_cols(x):
    return x[:, [0, 0, 1, 2]]


# %% shuffle_rows
# says: You picked rows: the list belongs behind the comma, x[:, [...]].
# says-ko: 행을 골랐습니다. 목록은 쉼표 뒤에 옵니다: x[:, [...]].
# earns: 0.4

def shuffle_cols(x):
    return x[[0, 0, 2, 1]]


# %% reverse_columns
# says: You reversed the columns; the rows are to be reversed.
# says-ko: 열을 뒤집었습니다. 뒤집을 것은 행입니다.
# earns: 0.4

def reverse_rows(x):
    return x[:, list(range(x.shape[1] - 1, -1, -1))]


# %% reverse_misses_a_row
# says: Row 0 is missing at the end: a range such as range(M - 1, 0, -1) stops before 0.
# says-ko: 끝에 0행이 빠졌습니다. range(M - 1, 0, -1) 같은 범위는 0 앞에서 끝납니다.
# earns: 0.6

def reverse_rows(x):
    return x[list(range(x.shape[0] - 1, 0, -1))]


# %% take_first_rows
# says: You took rows 0, 1 and 2; rows 1, 0 and 3 are asked for.
# says-ko: 0, 1, 2행을 가져왔습니다. 요구한 것은 1, 0, 3행입니다.
# earns: 0.5

def take_one_elem_per_col(x):
    return x[[0, 1, 2], [0, 1, 2]]


# %% take_block
# says: Nine numbers came back, of each row in each column; two flat lists in one pair of brackets pick three.
# says-ko: 세 행과 세 열이 만나는 아홉 개가 나왔습니다. 1차원 목록 두 개를 한 쌍의 대괄호 안에 쓰면 세 개를 고릅니다.
# earns: 0.4

def take_one_elem_per_col(x):
    return x[[1, 0, 3]][:, [0, 1, 2]]


# %% hot_whole_columns
# says: Every row has a one in the columns of all classes; name the rows beside the columns in the index.
# says-ko: 모든 행에서 모든 번호의 열이 1입니다. 인덱스에 열과 함께 행도 쓰세요.
# earns: 0.4

def make_one_hot(x):
    y = torch.zeros(len(x), max(x) + 1)
    y[:, x] = 1
    return y


# %% sum_counts
# says: You counted the positive numbers; their sum is asked for.
# says-ko: 양수의 개수를 세었습니다. 요구한 것은 합입니다.
# earns: 0.25

def sum_positive_entries(x):
    return (x > 0).sum().item()


# %% sum_everything
# says: You added up all numbers, the negative ones too.
# says-ko: 음수까지 모든 수를 더했습니다.
# earns: 0.2

def sum_positive_entries(x):
    return x.sum().item()


# %% reshape_only
# says: You only changed the shape: the numbers are still in the order in which they came.
# says-ko: shape만 바꾸었습니다. 수의 순서는 처음 그대로입니다.
# earns: 0

def reshape_practice(x):
    return x.reshape(3, 8)


# %% reshape_three_dimensions
# says: The result still has three dimensions: the last step, joining the blocks, is missing.
# says-ko: 결과가 아직 3차원입니다. 블록을 잇는 마지막 단계가 빠졌습니다.
# earns: 0.6

def reshape_practice(x):
    return x.view(2, 3, 4).transpose(0, 1)


# %% min_in_place
# says: The values are right, but x itself was changed: copy it first (x.clone()).
# says-ko: 값은 맞지만 x가 바뀌었습니다. 먼저 복사하세요(x.clone()).
# earns: 0

def zero_row_min(x):
    x[torch.arange(x.shape[0]), x.argmin(dim=1)] = 0
    return x


# %% min_of_columns
# says: You set the least entry of each column to zero; argmin(dim=1) finds that of each row.
# says-ko: 각 열의 최솟값을 0으로 만들었습니다. 각 행의 최솟값은 argmin(dim=1)이 찾습니다.
# earns: 0.5

def zero_row_min(x):
    y = x.clone()
    y[x.argmin(dim=0), torch.arange(x.shape[1])] = 0
    return y


# %% min_whole_columns
# says: Every column that holds some row's least entry is zero throughout: the index names all rows, not
#   each row beside its column.
# says-ko: 어떤 행의 최솟값이 있는 열이 모두 0입니다. 인덱스가 행마다 제 열이 아니라 모든 행을 가리킵니다.
# earns: 0.8
# voids: no_loops

def zero_row_min(x):
    y = x.clone()
    y[:, x.argmin(dim=1)] = 0
    return y


# %% min_of_everything
# says: One entry of the whole matrix is zero: argmin and min without dim look at all numbers at once.
# says-ko: 행렬 전체에서 하나만 0입니다. dim 없는 argmin과 min은 모든 수를 한꺼번에 봅니다.
# earns: 0.4

def zero_row_min(x):
    y = x.clone()
    y[y == y.min()] = 0
    return y


# %% loop_loses_float64
# says: float64 is lost on the way; torch.zeros(...) without a dtype, for one, makes float32.
# says-ko: 도중에 float64를 잃었습니다. 예를 들어 dtype 없는 torch.zeros(...)는 float32를 만듭니다.
# earns: 0

def batched_matrix_multiply_loop(x, y):
    z = torch.zeros(x.shape[0], x.shape[1], y.shape[2])
    for i in range(x.shape[0]):
        z[i] = x[i].mm(y[i])
    return z


# %% loop_keeps_last
# says: Only the last product comes back: keep the products of all turns.
# says-ko: 마지막 곱만 반환합니다. 모든 차례의 곱을 모으세요.
# earns: 0.8
# voids: loop

def batched_matrix_multiply_loop(x, y):
    for i in range(x.shape[0]):
        z = x[i].mm(y[i])
    return z


# %% noloop_transposed
# says: Each product comes back transposed.
# says-ko: 곱이 모두 전치되어 나옵니다.
# earns: 0.6

def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y).transpose(1, 2)


# %% normalize_by_m
# says: You divided the sum of the squares by M; the divisor is M - 1.
# says-ko: 제곱의 합을 M으로 나누었습니다. 나눌 수는 M - 1입니다.
# earns: 0.5

def normalize_columns(x):
    m = x.shape[0]
    mean = x.sum(dim=0) / m
    std = (((x - mean) ** 2).sum(dim=0) / m).sqrt()
    return (x - mean) / std


# %% normalize_by_columns
# says: You divided by N and N - 1, with the number of columns; a column has M numbers.
# says-ko: 열의 수 N과 N - 1로 나누었습니다. 한 열에는 수가 M개 있습니다.
# earns: 0.3

def normalize_columns(x):
    n = x.shape[1]
    mean = x.sum(dim=0) / n
    std = (((x - mean) ** 2).sum(dim=0) / (n - 1)).sqrt()
    return (x - mean) / std


# %% normalize_squares_by_columns
# says: You divided the sum of the squares by N - 1, with the number of columns; the divisor is M - 1.
# says-ko: 제곱의 합을 열의 수로 N - 1로 나누었습니다. 나눌 수는 M - 1입니다.
# earns: 0.4

def normalize_columns(x):
    mean = x.sum(dim=0) / x.shape[0]
    std = (((x - mean) ** 2).sum(dim=0) / (x.shape[1] - 1)).sqrt()
    return (x - mean) / std


# %% normalize_squares_by_n
# says: You divided the sum of the squares by N, the number of columns; the divisor is M - 1.
# says-ko: 제곱의 합을 열의 수 N으로 나누었습니다. 나눌 수는 M - 1입니다.
# earns: 0.3

def normalize_columns(x):
    mean = x.sum(dim=0) / x.shape[0]
    std = (((x - mean) ** 2).sum(dim=0) / x.shape[1]).sqrt()
    return (x - mean) / std


# %% normalize_by_variance
# says: You divided by the variance: the square root is missing.
# says-ko: 분산으로 나누었습니다. 제곱근이 빠졌습니다.
# earns: 0.4

def normalize_columns(x):
    mean = x.sum(dim=0) / x.shape[0]
    return (x - mean) / (((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1))


# %% normalize_centres_only
# says: You subtracted the mean, but did not divide by the standard deviation.
# says-ko: 평균은 뺐지만 표준편차로 나누지 않았습니다.
# earns: 0.75
# voids: no_mean_or_std

def normalize_columns(x):
    return x - x.sum(dim=0) / x.shape[0]


# %% normalize_scales_only
# says: You divided by the standard deviation, but did not subtract the mean.
# says-ko: 표준편차로 나누었지만 평균을 빼지 않았습니다.
# earns: 0.2

def normalize_columns(x):
    mean = x.sum(dim=0) / x.shape[0]
    return x / (((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1)).sqrt()


# %% normalize_rows
# says: You normalised the rows: sum along dim=0 for one number a column.
# says-ko: 행을 정규화했습니다. 열마다 한 수가 되려면 dim=0으로 더하세요.
# earns: 0.2

def normalize_columns(x):
    n = x.shape[1]
    mean = x.sum(dim=1, keepdim=True) / n
    std = (((x - mean) ** 2).sum(dim=1, keepdim=True) / (n - 1)).sqrt()
    return (x - mean) / std


# %% normalize_whole
# says: You used one mean and one deviation for the whole matrix; each column has its own.
# says-ko: 행렬 전체에 평균 하나와 표준편차 하나를 썼습니다. 열마다 따로 구해야 합니다.
# earns: 0.2

def normalize_columns(x):
    n = x.numel()
    mean = x.sum() / n
    return (x - mean) / (((x - mean) ** 2).sum() / (n - 1)).sqrt()


# %% gpu_never_returns
# says: The product is still on the GPU: bring it back with .cpu().
# says-ko: 곱이 아직 GPU에 있습니다. .cpu()로 가져오세요.
# earns: 0

def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda())


# %% means_by_greatest_length
# says: Every sum is divided by the length of the longest tensor; divide each by its own length.
# says-ko: 모든 합을 가장 긴 텐서의 길이로 나누었습니다. 텐서마다 자기 길이로 나누세요.
# earns: 0.5

def challenge_mean_tensors(xs, ls):
    return torch.nn.utils.rnn.pad_sequence(xs, batch_first=True).mean(dim=1)


# %% means_sums
# says: These are the sums: they are not divided by the lengths.
# says-ko: 합입니다. 길이로 나누지 않았습니다.
# earns: 0.5

def challenge_mean_tensors(xs, ls):
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    return torch.zeros(len(xs)).index_add(0, owner, torch.cat(xs))


# %% uniques_last_place
# says: The places are where each value comes last; where it comes first is asked for.
# says-ko: 각 값이 마지막으로 나오는 자리입니다. 요구한 것은 처음 나오는 자리입니다.
# earns: 0.6

def challenge_get_uniques(x):
    ordered, places = torch.sort(x, stable=True)
    last = torch.ones_like(ordered, dtype=torch.bool)
    last[:-1] = ordered[1:] != ordered[:-1]
    return ordered[last], places[last]


# %% uniques_counts
# says: The second tensor tells how often each value comes; where it comes first is asked for.
# says-ko: 두 번째 텐서가 각 값의 개수입니다. 요구한 것은 처음 나오는 자리입니다.
# earns: 0.3

def challenge_get_uniques(x):
    return torch.unique(x, return_counts=True)


# %% uniques_inverse
# says: The second tensor is torch.unique's inverse: for each number, which value it is; the place where
#   each value comes first is asked for.
# says-ko: 두 번째 텐서가 torch.unique의 inverse입니다. 요구한 것은 각 값이 처음 나오는 자리입니다.
# earns: 0.3

def challenge_get_uniques(x):
    return torch.unique(x, return_inverse=True)

# %% count_last_size
# says: You counted the last size alone; the number of elements is the product of all sizes.
# says-ko: 마지막 크기만 셌습니다. 원소의 수는 모든 크기의 곱입니다.
# earns: 0.3

def count_tensor_elements(x):
    return x.shape[-1]


# %% count_dimensions
# says: This is the number of dimensions; the number of elements is the product of their sizes.
# says-ko: 차원의 수입니다. 원소의 수는 크기의 곱입니다.
# earns: 0

def count_tensor_elements(x):
    return x.dim()


# %% count_first_two
# says: You multiplied the first two sizes alone; take all of them.
# says-ko: 처음 두 크기만 곱했습니다. 모두 곱하세요.
# earns: 0.6

def count_tensor_elements(x):
    return x.shape[0] * (x.shape[1] if x.dim() > 1 else 1)


# %% multiples_without_the_first
# says: The first multiple of ten is missing.
# says-ko: 첫 10의 배수가 없습니다.
# earns: 0.6

def multiples_of_ten(start, stop):
    x = torch.arange(start, stop + 1, dtype=torch.float64)
    return x[x % 10 == 0][1:]


# %% multiples_exclusive_start
# says: A start that is a multiple of ten is missing; the range includes both of its ends.
# says-ko: 10의 배수인 start가 없습니다. 범위는 양 끝을 포함합니다.
# earns: 0.6

def multiples_of_ten(start, stop):
    x = torch.arange(start + 1, stop + 1, dtype=torch.float64)
    return x[x % 10 == 0]


# %% multiples_past_stop
# says: The list goes on to the multiple of ten above stop; the last one is stop or below it.
# says-ko: stop보다 큰 10의 배수까지 갔습니다. stop을 넘지 않아야 합니다.
# earns: 0.6

def multiples_of_ten(start, stop):
    return torch.arange(-(-start // 10) * 10, stop + 10, 10, dtype=torch.float64)


# %% multiples_divided
# says: These are the multiples divided by ten.
# says-ko: 10의 배수를 10으로 나눈 것입니다.
# earns: 0.6

def multiples_of_ten(start, stop):
    x = torch.arange(start, stop + 1, dtype=torch.float64)
    return x[x % 10 == 0] / 10


# %% multiples_among_zeros
# says: The other numbers of the range are 0 here; leave them out: x[x % 10 == 0].
# says-ko: 범위의 다른 수가 0으로 남아 있습니다. x[x % 10 == 0]으로 빼세요.
# earns: 0.5

def multiples_of_ten(start, stop):
    x = torch.arange(start, stop + 1, dtype=torch.float64)
    return torch.where(x % 10 == 0, x, 0.0)


# %% multiples_as_a_mask
# says: This is the mask; index the numbers with it.
# says-ko: 마스크입니다. 그것으로 수를 인덱싱하세요.
# earns: 0.5

def multiples_of_ten(start, stop):
    x = torch.arange(start, stop + 1, dtype=torch.float64)
    return x % 10 == 0


# %% multiples_places
# says: These are the places of the multiples in the range; the multiples themselves are asked for.
# says-ko: 범위 안에서 배수의 위치입니다. 배수 자체여야 합니다.
# earns: 0.5

def multiples_of_ten(start, stop):
    x = torch.arange(start, stop + 1, dtype=torch.float64)
    return (x % 10 == 0).nonzero().flatten()


# %% multiples_in_a_list
# says: The multiples come in a list; a tensor is asked for.
# says-ko: 배수가 목록으로 돌아왔습니다. 텐서여야 합니다.
# earns: 0.7

def multiples_of_ten(start, stop):
    x = torch.arange(start, stop + 1, dtype=torch.float64)
    return x[x % 10 == 0].tolist()


# %% slices_first_row
# says: The first part is the first row; the last is asked for: x[-1].
# says-ko: 첫 부분이 첫 행입니다. 마지막 행 x[-1]이어야 합니다.
# earns: 0.7

def slice_indexing_practice(x):
    return x[0], x[:, 2:3], x[:2, :3], x[::2, 1::2]


# %% slices_fourth_column
# says: The second part is column 3, which is the fourth; the third is column 2.
# says-ko: 둘째 부분이 3번, 곧 넷째 열입니다. 셋째 열은 2번입니다.
# earns: 0.7

def slice_indexing_practice(x):
    return x[-1], x[:, 3:4], x[:2, :3], x[::2, 1::2]


# %% slices_third_row_for_column
# says: The second part is the third row; the third column is asked for: x[:, 2:3].
# says-ko: 둘째 부분이 셋째 행입니다. 셋째 열 x[:, 2:3]이어야 합니다.
# earns: 0.6

def slice_indexing_practice(x):
    return x[-1], x[2:3], x[:2, :3], x[::2, 1::2]


# %% slices_corner_turned
# says: The third part has three rows and two columns; it is the other way round.
# says-ko: 셋째 부분이 3행 2열입니다. 2행 3열이어야 합니다.
# earns: 0.7

def slice_indexing_practice(x):
    return x[-1], x[:, 2:3], x[:3, :2], x[::2, 1::2]


# %% slices_last_row_kept
# says: The last row comes with shape (1, N): a slice keeps a dimension, a number in the brackets removes it.
# says-ko: 마지막 행의 shape이 (1, N)입니다. 슬라이스는 차원을 남기고 숫자는 없앱니다.
# earns: 0.7

def slice_indexing_practice(x):
    return x[-1:], x[:, 2:3], x[:2, :3], x[::2, 1::2]


# %% slices_even_and_even
# says: The fourth part has the columns with even numbers; those with odd ones are asked for: 1::2.
# says-ko: 넷째 부분의 열이 짝수 번입니다. 홀수 번(1::2)이어야 합니다.
# earns: 0.7

def slice_indexing_practice(x):
    return x[-1], x[:, 2:3], x[:2, :3], x[::2, ::2]


# %% slices_odd_and_odd
# says: The fourth part has the rows with odd numbers; those with even ones are asked for: ::2.
# says-ko: 넷째 부분의 행이 홀수 번입니다. 짝수 번(::2)이어야 합니다.
# earns: 0.7

def slice_indexing_practice(x):
    return x[-1], x[:, 2:3], x[:2, :3], x[1::2, 1::2]


# %% slices_last_column
# says: The first part is the last column; the last row is asked for: x[-1].
# says-ko: 첫 부분이 마지막 열입니다. 마지막 행 x[-1]이어야 합니다.
# earns: 0.7

def slice_indexing_practice(x):
    return x[:, -1], x[:, 2:3], x[:2, :3], x[::2, 1::2]


# %% assign_three_and_four_swapped
# says: The threes and the fours are in each other's places: the threes begin, in column 0.
# says-ko: 3과 4가 서로 바뀌었습니다. 3이 0번 열에서 시작합니다.
# earns: 0.7

def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:4:2] = 4
    x[2:4, 1:4:2] = 3
    x[2:4, 4:6] = 5
    return x


# %% assign_twos_end_early
# says: The twos end with column 4; the stop of a slice is left out, so column 5 needs 2:6.
# says-ko: 2가 4번 열에서 끝납니다. 슬라이스의 끝은 빠지므로 5번 열까지는 2:6입니다.
# earns: 0.7

def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:5] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x


# %% assign_one_row_each
# says: Only rows 0 and 2 have the pattern; it is two rows high: :2 and 2:4.
# says-ko: 0번과 2번 행에만 무늬가 있습니다. 두 행씩이므로 :2와 2:4입니다.
# earns: 0.5

def slice_assignment_practice(x):
    x[0, 0] = 0
    x[0, 1] = 1
    x[0, 2:6] = 2
    x[2, 0:4:2] = 3
    x[2, 1:4:2] = 4
    x[2, 4:6] = 5
    return x


# %% assign_threes_and_fours_to_column_5
# says: Threes and fours go on to column 5; fives stand in columns 4 and 5.
# says-ko: 3과 4가 5번 열까지 있습니다. 4번과 5번 열은 5입니다.
# earns: 0.6

def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:6:2] = 3
    x[2:4, 1:6:2] = 4
    return x


# %% assign_fives_missing
# says: The fives are missing: what stood there is left.
# says-ko: 5가 없고 원래 수가 남아 있습니다.
# earns: 0.7

def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    return x


# %% shuffle_without_the_second
# says: Column 0 comes once; it comes twice, at the beginning.
# says-ko: 0번 열이 한 번뿐입니다. 처음에 두 번 와야 합니다.
# earns: 0.6

def shuffle_cols(x):
    return x[:, [0, 2, 1]]


# %% shuffle_rows_and_columns
# says: Column 1 comes twice, not column 0: [0, 0, 2, 1] is asked for.
# says-ko: 0번이 아니라 1번 열이 두 번 왔습니다. [0, 0, 2, 1]이어야 합니다.
# earns: 0.6

def shuffle_cols(x):
    return x[:, [0, 1, 2, 1]]


# %% shuffle_last_column
# says: The third column of the result is the last of x; column 2 is asked for.
# says-ko: 결과의 셋째 열이 x의 마지막 열입니다. 2번 열이어야 합니다.
# earns: 0.7

def shuffle_cols(x):
    return x[:, [0, 0, -1, 1]]


# %% reverse_both
# says: Rows and columns are both reversed; reverse the rows alone.
# says-ko: 행과 열이 모두 뒤집혔습니다. 행만 뒤집으세요.
# earns: 0.7

def reverse_rows(x):
    return x[list(range(x.shape[0] - 1, -1, -1))][:, list(range(x.shape[1] - 1, -1, -1))]


# %% reverse_misses_the_last
# says: The last row is missing: the first number of the index is M - 1.
# says-ko: 마지막 행이 없습니다. 인덱스의 첫 수는 M - 1입니다.
# earns: 0.6

def reverse_rows(x):
    return x[list(range(x.shape[0] - 2, -1, -1))]


# %% reverse_last_row_first
# says: The last row comes first, but the others stay in order; all rows are to be reversed.
# says-ko: 마지막 행만 앞으로 왔습니다. 모든 행을 뒤집으세요.
# earns: 0.5

def reverse_rows(x):
    return x[[x.shape[0] - 1, *range(x.shape[0] - 1)]]


# %% take_three_rows
# says: These are whole rows; pick one entry of each: name rows and columns in one pair of brackets.
# says-ko: 행 전체입니다. 한 항목씩 고르세요: 한 괄호에 행과 열을 쓰세요.
# earns: 0.5

def take_one_elem_per_col(x):
    return x[[1, 0, 3]]


# %% take_a_column
# says: The three entries stand in a column, of shape (3, 1); shape (3,) is asked for.
# says-ko: 세 항목이 shape (3, 1)인 열에 있습니다. shape은 (3,)이어야 합니다.
# earns: 0.7

def take_one_elem_per_col(x):
    return x[[1, 0, 3], [0, 1, 2]][:, None]


# %% take_row_2_last
# says: The last entry is of row 2; row 3 is asked for.
# says-ko: 마지막 항목이 2번 행입니다. 3번 행이어야 합니다.
# earns: 0.7

def take_one_elem_per_col(x):
    return x[[1, 0, 2], [0, 1, 2]]


# %% hot_transposed
# says: Rows and columns are swapped: there is a row for each number of the list.
# says-ko: 행과 열이 바뀌었습니다. 목록의 수마다 행이 하나입니다.
# earns: 0.6

def make_one_hot(x):
    y = torch.zeros(max(x) + 1, len(x))
    y[x, torch.arange(len(x))] = 1
    return y


# %% hot_one_column_more
# says: There is one column too many: the greatest number plus 1 is their number.
# says-ko: 열이 하나 더 있습니다. 열의 수는 가장 큰 수 더하기 1입니다.
# earns: 0.6

def make_one_hot(x):
    y = torch.zeros(len(x), max(x) + 2)
    y[torch.arange(len(x)), x] = 1
    return y


# %% hot_up_to_the_class
# says: Each row has ones up to its class; only the column of the class is 1.
# says-ko: 행마다 클래스까지 모두 1입니다. 클래스의 열만 1이어야 합니다.
# earns: 0.5

def make_one_hot(x):
    return (torch.arange(max(x) + 1) <= torch.tensor(x)[:, None]).float()


# %% hot_with_the_number
# says: The entries are the class numbers; they are to be 1.
# says-ko: 항목이 클래스 번호입니다. 1이어야 합니다.
# earns: 0.6

def make_one_hot(x):
    y = torch.zeros(len(x), max(x) + 1)
    y[torch.arange(len(x)), x] = torch.tensor(x).float()
    return y


# %% sum_of_absolutes
# says: You added up the absolute values; leave the negative numbers out.
# says-ko: 절댓값을 더했습니다. 음수는 빼세요.
# earns: 0.5

def sum_positive_entries(x):
    return x.abs().sum().item()


# %% sum_of_negatives
# says: You added up the negative numbers; those above zero are asked for.
# says-ko: 음수를 더했습니다. 0보다 큰 수여야 합니다.
# earns: 0.6

def sum_positive_entries(x):
    return x[x < 0].sum().item()


# %% sum_above_1
# says: Ones are left out: x > 1; above zero means x > 0.
# says-ko: 1을 뺐습니다(x > 1). 0보다 큰 수는 x > 0입니다.
# earns: 0.7

def sum_positive_entries(x):
    return x[x > 1].sum().item()


# %% sum_mean
# says: This is the mean of the positive numbers; their sum is asked for.
# says-ko: 양수의 평균입니다. 합이어야 합니다.
# earns: 0.5

def sum_positive_entries(x):
    y = x[x > 0]
    return y.sum().item() / max(1, y.numel())


# %% sum_of_the_mask
# says: These are the positive numbers; add them up.
# says-ko: 양수 자체입니다. 더하세요.
# earns: 0.5

def sum_positive_entries(x):
    return x[x > 0]


# %% sum_by_columns
# says: There is a sum for each column; one sum of all numbers is asked for.
# says-ko: 열마다 합이 있습니다. 모든 수의 합 하나여야 합니다.
# earns: 0.5

def sum_positive_entries(x):
    return (x * (x > 0)).sum(dim=0)


# %% reshape_columns_first
# says: The numbers run down the columns: cut them into blocks of four by view(2, 3, 4).
# says-ko: 수가 열을 따라 내려갑니다. view(2, 3, 4)로 네 개씩 나누세요.
# earns: 0.6

def reshape_practice(x):
    return x.view(8, 3).t()


# %% reshape_blocks_of_three_rows
# says: The blocks are cut by view(3, 2, 4); view(2, 3, 4) puts the second half beside the first.
# says-ko: view(3, 2, 4)로 나누었습니다. view(2, 3, 4)여야 뒤쪽 절반이 옆에 옵니다.
# earns: 0.7

def reshape_practice(x):
    return x.view(3, 2, 4).transpose(0, 1).reshape(3, 8)


# %% reshape_halves_mixed
# says: The two halves alternate number by number; they stand side by side, four and four: transpose(0, 1).
# says-ko: 두 절반이 한 개씩 번갈아 있습니다. 네 개씩 나란히 있어야 합니다: transpose(0, 1).
# earns: 0.7

def reshape_practice(x):
    return x.view(2, 3, 4).permute(1, 2, 0).reshape(3, 8)


# %% reshape_second_half_first
# says: The second half comes first.
# says-ko: 뒤쪽 절반이 앞에 왔습니다.
# earns: 0.7

def reshape_practice(x):
    return x.view(2, 3, 4).flip(0).transpose(0, 1).reshape(3, 8)


# %% reshape_transposed
# says: The result has eight rows and three columns; it is the other way round.
# says-ko: 결과가 8행 3열입니다. 3행 8열이어야 합니다.
# earns: 0.6

def reshape_practice(x):
    return x.view(2, 3, 4).transpose(0, 1).reshape(3, 8).t()


# %% min_greatest
# says: You set the greatest entry of each row to zero; the least is asked for: argmin.
# says-ko: 행마다 가장 큰 항목을 0으로 했습니다. 가장 작은 항목(argmin)이어야 합니다.
# earns: 0.7

def zero_row_min(x):
    y = x.clone()
    y[torch.arange(len(x)), x.argmax(dim=1)] = 0
    return y


# %% min_taken_off
# says: The least entry of each row is taken off the whole row; set only it to zero.
# says-ko: 행 전체에서 가장 작은 항목을 뺐습니다. 그 항목만 0으로 하세요.
# earns: 0.5

def zero_row_min(x):
    return x - x.min(dim=1, keepdim=True).values


# %% min_values
# says: These are the least entries; a copy of x with zeros in their places is asked for.
# says-ko: 가장 작은 항목들입니다. 그 자리에 0을 쓴 x의 복사본이어야 합니다.
# earns: 0.4

def zero_row_min(x):
    return x.min(dim=1).values


# %% min_values_and_indices
# says: min(dim=1) returns values and indices, and both came back: use .indices to set the entries of a copy.
# says-ko: min(dim=1)은 values와 indices를 반환하는데 둘 다 반환했습니다. .indices로 복사본의 항목을 0으로 하세요.
# earns: 0.3

def zero_row_min(x):
    return x.min(dim=1)


# %% min_of_the_first_row
# says: Only the first row has a zero; each row is to have one. Does a return stand inside a loop?
# says-ko: 첫 행에만 0이 있습니다. 행마다 있어야 합니다. 반복문 안에 return이 있나요?
# earns: 0.4

def zero_row_min(x):
    y = x.clone()
    y[0, x[0].argmin()] = 0
    return y


# %% min_of_the_sizes
# says: The entry nearest to zero is set to zero; the least is asked for, without abs().
# says-ko: 0에 가장 가까운 항목을 0으로 했습니다. abs() 없이 가장 작은 항목이어야 합니다.
# earns: 0.7

def zero_row_min(x):
    y = x.clone()
    y[torch.arange(len(x)), x.abs().argmin(dim=1)] = 0
    return y


# %% min_whole_rows
# says: Whole rows are zero: name the columns beside the rows in the index.
# says-ko: 행 전체가 0입니다. 인덱스에 행과 함께 열을 쓰세요.
# earns: 0.4

def zero_row_min(x):
    y = x.clone()
    y[torch.arange(len(x))] = 0
    return y


# %% loop_transposed
# says: Each product comes back transposed.
# says-ko: 각 곱이 전치되어 있습니다.
# earns: 0.7

def batched_matrix_multiply_loop(x, y):
    return (x @ y).transpose(1, 2)


# %% loop_returns_the_first
# says: Only the first product comes back: does a return stand inside the loop?
# says-ko: 첫 곱만 돌아왔습니다. 반복문 안에 return이 있나요?
# earns: 0.4

def batched_matrix_multiply_loop(x, y):
    return x[0] @ y[0]


# %% loop_fills_the_first
# says: Only the first product is there; the others are 0.
# says-ko: 첫 곱만 있고 나머지는 0입니다.
# earns: 0.4

def batched_matrix_multiply_loop(x, y):
    z = torch.zeros(len(x), x.shape[1], y.shape[2], dtype=x.dtype)
    z[0] = x[0] @ y[0]
    return z


# %% loop_in_a_list
# says: The products come in a list: torch.stack makes one tensor of it.
# says-ko: 곱이 목록으로 돌아왔습니다. torch.stack으로 텐서 하나로 만드세요.
# earns: 0.8

def batched_matrix_multiply_loop(x, y):
    return [one @ other for one, other in zip(x, y)]


# %% loop_joined
# says: The products stand one below the other, in one matrix: torch.stack puts them into a batch, torch.cat does not.
# says-ko: 곱이 한 행렬에 위아래로 이어졌습니다. torch.cat이 아니라 torch.stack이 배치를 만듭니다.
# earns: 0.7

def batched_matrix_multiply_loop(x, y):
    return torch.cat([one @ other for one, other in zip(x, y)])


# %% loop_adds_up
# says: The products are added up; the batch keeps each of them.
# says-ko: 곱을 모두 더했습니다. 배치에 각각 있어야 합니다.
# earns: 0.5

def batched_matrix_multiply_loop(x, y):
    return (x @ y).sum(dim=0)


# %% loop_first_partner
# says: Every matrix is multiplied by the first of y; each has its own partner.
# says-ko: 모든 행렬에 y의 첫 행렬을 곱했습니다. 각자의 짝이 있습니다.
# earns: 0.6

def batched_matrix_multiply_loop(x, y):
    return x @ y[0]


# %% noloop_adds_up
# says: The products are added up; the batch keeps each of them.
# says-ko: 곱을 모두 더했습니다. 배치에 각각 있어야 합니다.
# earns: 0.5

def batched_matrix_multiply_noloop(x, y):
    return (x @ y).sum(dim=0)


# %% noloop_first_partner
# says: Every matrix is multiplied by the first of y; each has its own partner.
# says-ko: 모든 행렬에 y의 첫 행렬을 곱했습니다. 각자의 짝이 있습니다.
# earns: 0.6

def batched_matrix_multiply_noloop(x, y):
    return x @ y[0]


# %% noloop_all_pairs
# says: Every matrix is multiplied by every one of y; only partners belong together.
# says-ko: 모든 행렬을 y의 모든 행렬과 곱했습니다. 짝끼리만 곱해야 합니다.
# earns: 0.5

def batched_matrix_multiply_noloop(x, y):
    return torch.einsum('bnm,cmp->bcnp', x, y)


# %% noloop_loses_float64
# says: float64 is lost on the way; .float() and torch.zeros(...) without a dtype, for two, make float32.
# says-ko: 도중에 float64를 잃었습니다. .float()나 dtype 없는 torch.zeros(...)는 float32를 만듭니다.
# earns: 0

def batched_matrix_multiply_noloop(x, y):
    return (x.float() @ y.float()).to(torch.float32)


# %% normalize_mean_by_m_minus_1
# says: The sum is divided by M - 1 for the mean, too; the mean has M, the deviation M - 1.
# says-ko: 평균도 M - 1로 나누었습니다. 평균은 M, 편차는 M - 1입니다.
# earns: 0.6

def normalize_columns(x):
    m = x.shape[0]
    mean = x.sum(dim=0) / (m - 1)
    return (x - mean) / (((x - mean) ** 2).sum(dim=0) / (m - 1)).sqrt()


# %% normalize_root_of_the_sum
# says: You took the root of the sum of the squares: divide it by M - 1 first.
# says-ko: 제곱의 합의 제곱근입니다. 먼저 M - 1로 나누세요.
# earns: 0.6

def normalize_columns(x):
    m = x.shape[0]
    mean = x.sum(dim=0) / m
    return (x - mean) / ((x - mean) ** 2).sum(dim=0).sqrt()


# %% normalize_by_the_sum
# says: You divided by M - 1 after the root; divide the sum of the squares by it before.
# says-ko: 제곱근을 구한 다음 M - 1로 나누었습니다. 그 전에 나누세요.
# earns: 0.7

def normalize_columns(x):
    m = x.shape[0]
    mean = x.sum(dim=0) / m
    return (x - mean) / (((x - mean) ** 2).sum(dim=0).sqrt() / (m - 1))


# %% normalize_uncentred_squares
# says: The squares are those of x; take the mean off before you square.
# says-ko: x의 제곱을 썼습니다. 제곱하기 전에 평균을 빼세요.
# earns: 0.6

def normalize_columns(x):
    m = x.shape[0]
    mean = x.sum(dim=0) / m
    return (x - mean) / ((x**2).sum(dim=0) / (m - 1)).sqrt()


# %% normalize_absolute
# says: You averaged the absolute deviations; square them, and take the root at the end.
# says-ko: 편차의 절댓값을 평균했습니다. 제곱하고 마지막에 제곱근을 구하세요.
# earns: 0.6

def normalize_columns(x):
    m = x.shape[0]
    mean = x.sum(dim=0) / m
    return (x - mean) / ((x - mean).abs().sum(dim=0) / (m - 1))


# %% normalize_adds_the_mean
# says: The mean is added; subtract it.
# says-ko: 평균을 더했습니다. 빼야 합니다.
# earns: 0.6

def normalize_columns(x):
    m = x.shape[0]
    mean = x.sum(dim=0) / m
    return (x + mean) / (((x - mean) ** 2).sum(dim=0) / (m - 1)).sqrt()


# %% normalize_to_0_and_1
# says: Each column runs from 0 to 1; mean 0 and deviation 1 are asked for.
# says-ko: 열마다 0에서 1까지입니다. 평균 0, 표준편차 1이어야 합니다.
# earns: 0.3

def normalize_columns(x):
    least, most = x.amin(dim=0), x.amax(dim=0)
    return (x - least) / (most - least)


# %% normalize_not_divided
# says: The sum takes the place of the mean: divide it by M.
# says-ko: 평균 자리에 합이 있습니다. M으로 나누세요.
# earns: 0.6

def normalize_columns(x):
    m = x.shape[0]
    total = x.sum(dim=0)
    return (x - total) / (((x - total) ** 2).sum(dim=0) / (m - 1)).sqrt()


# %% normalize_x_over_deviation_first
# says: The mean is taken off after the division; take it off before: (x - mean) / deviation.
# says-ko: 나눈 다음에 평균을 뺐습니다. 먼저 빼세요: (x - mean) / 편차.
# earns: 0.6

def normalize_columns(x):
    m = x.shape[0]
    mean = x.sum(dim=0) / m
    return x / (((x - mean) ** 2).sum(dim=0) / (m - 1)).sqrt() - mean


# %% normalize_returns_deviations
# says: This is the deviation of each column; the normalised matrix is asked for.
# says-ko: 열마다의 표준편차입니다. 정규화한 행렬이어야 합니다.
# earns: 0.5

def normalize_columns(x):
    m = x.shape[0]
    mean = x.sum(dim=0) / m
    return (((x - mean) ** 2).sum(dim=0) / (m - 1)).sqrt()


# %% normalize_transposed
# says: The result is transposed.
# says-ko: 결과가 전치되어 있습니다.
# earns: 0.7

def normalize_columns(x):
    m = x.shape[0]
    mean = x.sum(dim=0) / m
    return ((x - mean) / (((x - mean) ** 2).sum(dim=0) / (m - 1)).sqrt()).t()


# %% means_by_the_number_of_tensors
# says: The sums are divided by N, the number of tensors; divide each by its own length.
# says-ko: 합을 텐서의 수 N으로 나누었습니다. 각자의 길이로 나누세요.
# earns: 0.6

def challenge_mean_tensors(xs, ls):
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    sums = torch.zeros(len(xs), dtype=torch.float64).index_add(0, owner, torch.cat(xs).double())
    return (sums / len(xs)).float()


# %% means_of_all
# says: There is one mean of all numbers; each tensor has its own.
# says-ko: 모든 수의 평균 하나입니다. 텐서마다 평균이 있어야 합니다.
# earns: 0.3
# voids: no_loops, memory

def challenge_mean_tensors(xs, ls):
    return torch.cat(xs).mean()


# %% means_by_length_minus_1
# says: The sums are divided by the lengths less 1; divide by the lengths.
# says-ko: 길이에서 1을 뺀 수로 나누었습니다. 길이로 나누세요.
# earns: 0.6

def challenge_mean_tensors(xs, ls):
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    sums = torch.zeros(len(xs), dtype=torch.float64).index_add(0, owner, torch.cat(xs).double())
    return (sums / (ls - 1)).float()


# %% means_without_zeros
# says: Zeros are not counted; divide by the lengths, ls.
# says-ko: 0을 세지 않았습니다. 길이 ls로 나누세요.
# earns: 0.6

def challenge_mean_tensors(xs, ls):
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    sums = torch.zeros(len(xs), dtype=torch.float64).index_add(0, owner, torch.cat(xs).double())
    flat = torch.cat(xs)
    counts = torch.zeros(len(xs)).index_add(0, owner, (flat != 0).float()).clamp(min=1)
    return (sums / counts).float()


# %% means_medians
# says: These are medians; means are asked for.
# says-ko: 중앙값입니다. 평균이어야 합니다.
# earns: 0.4

def challenge_mean_tensors(xs, ls):
    return torch.stack([x.median() for x in xs])


# %% means_in_a_list
# says: The means come in a list; a tensor is asked for.
# says-ko: 평균이 목록으로 돌아왔습니다. 텐서여야 합니다.
# earns: 0.6

def challenge_mean_tensors(xs, ls):
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    sums = torch.zeros(len(xs), dtype=torch.float64).index_add(0, owner, torch.cat(xs).double())
    return (sums / ls).tolist()


# %% uniques_swapped
# says: Places come first and values second; it is the other way round.
# says-ko: 위치가 먼저, 값이 나중입니다. 반대여야 합니다.
# earns: 0.7

def challenge_get_uniques(x):
    ordered, places = torch.sort(x, stable=True)
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return places[first], ordered[first]


# %% uniques_values_alone
# says: The values come back alone; their places are missing.
# says-ko: 값만 돌아왔습니다. 위치가 없습니다.
# earns: 0.4

def challenge_get_uniques(x):
    return torch.unique(x)


# %% uniques_only_neighbours
# says: Equal numbers are joined only where they are neighbours; sort first.
# says-ko: 이웃한 같은 수만 합쳤습니다. 먼저 정렬하세요.
# earns: 0.4

def challenge_get_uniques(x):
    first = torch.ones_like(x, dtype=torch.bool)
    first[1:] = x[1:] != x[:-1]
    return x[first], first.nonzero().flatten()


# %% uniques_places_when_sorted
# says: The places are those in the sorted vector; those in x are asked for.
# says-ko: 정렬한 벡터에서의 위치입니다. x에서의 위치여야 합니다.
# earns: 0.6

def challenge_get_uniques(x):
    ordered, places = torch.sort(x, stable=True)
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first], first.nonzero().flatten()


# %% uniques_counted_from_1
# says: The places are counted from 1; they begin at 0.
# says-ko: 위치를 1부터 셌습니다. 0부터입니다.
# earns: 0.7

def challenge_get_uniques(x):
    ordered, places = torch.sort(x, stable=True)
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first], places[first] + 1


# %% uniques_places_sorted
# says: Values and places are right, but they do not belong together: both are sorted by themselves.
# says-ko: 값과 위치는 맞지만 짝이 맞지 않습니다. 둘을 따로 정렬했습니다.
# earns: 0.6

def challenge_get_uniques(x):
    ordered, places = torch.sort(x, stable=True)
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first], places[first].sort().values


# %% uniques_not_joined
# says: Every number is there, with all its repeats; each value comes once.
# says-ko: 반복되는 수가 모두 있습니다. 값마다 한 번이어야 합니다.
# earns: 0.3

def challenge_get_uniques(x):
    ordered, places = torch.sort(x, stable=True)
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered, places
