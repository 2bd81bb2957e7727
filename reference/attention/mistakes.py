# Known mistakes of attention. docs/authoring.md explains the cells.

import math

import torch
from torch import nn


def attended(query, key, value, mask=None, scale=None, masked=-math.inf, dim=2):
    """Return what attend is asked for, or something near it."""
    scale = math.sqrt(query.shape[2]) if scale is None else scale
    products = query @ key.transpose(1, 2) / scale
    if mask is not None:
        products = torch.where(mask, products, masked)
    return products.softmax(dim=dim) @ value


class Heads(nn.Module):
    """Several heads, or something near them."""

    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.query, self.key = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.value, self.output = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def run(self, x, mask, interleaved=False, scale=None, back=True, output=True, masked=-math.inf):  # noqa: PLR0913
        """Return what forward is asked for, or something near it."""
        batch, places, dim = x.shape
        size = dim // self.num_heads

        def heads(layer):
            if interleaved:
                parts = layer(x).view(batch, places, size, self.num_heads).permute(0, 3, 1, 2)
            else:
                parts = layer(x).view(batch, places, self.num_heads, size).transpose(1, 2)
            return parts.flatten(0, 1)

        query, key, value = heads(self.query), heads(self.key), heads(self.value)
        seen = attended(query, key, value, mask, scale, masked)
        seen = seen.view(batch, self.num_heads, places, size)
        if back:
            seen = seen.permute(0, 2, 3, 1) if interleaved else seen.transpose(1, 2)
        seen = seen.reshape(batch, places, dim)
        return self.output(seen) if output else seen


class Layers(nn.Module):
    """The layers of a block."""

    def __init__(self, dim, num_heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = MultiHeadAttention(dim, num_heads)
        self.wide, self.narrow = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def think(self, x):
        """Return what the second part makes of x."""
        return self.narrow(self.wide(x).clamp(min=0))


def copied(model, x, target, optimizer, steps, zero=True, all_places=False, ahead=False, reduce=torch.mean):  # noqa: PLR0913
    """Return what train_to_copy is asked for, or something near it."""
    places = torch.arange(x.shape[1])
    losses = []
    for _ in range(steps):
        mask = (places <= places[:, None]) | all_places
        mask = mask.T if ahead else mask
        loss = reduce((model(x, mask) - target).square())
        if zero:
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% loop_without_the_root
# says: The products are not divided: divide them by the square root of D.
# says-ko: 곱을 나누지 않았습니다. D의 제곱근으로 나누어야 합니다.
# earns: 0.7

def attend_loop(query, key, value):
    return attended(query, key, value, scale=1.0)


# %% loop_divides_by_D
# says: The products are divided by D; divide them by its square root.
# says-ko: 곱을 D로 나누었습니다. D의 제곱근으로 나누어야 합니다.
# earns: 0.7

def attend_loop(query, key, value):
    return attended(query, key, value, scale=query.shape[2])


# %% loop_in_float64
# says: The result is float64 for float32 inputs, too; keep their dtype.
# says-ko: float32 입력의 결과도 float64입니다. 입력의 dtype을 유지해야 합니다.
# earns: 0

def attend_loop(query, key, value):
    return attended(query.double(), key.double(), value.double())


# %% attend_loop_float32_buffer
# says: float64 comes back as float32; torch.zeros(...) without a dtype, for one, makes float32.
# says-ko: float64의 결과가 float32입니다. 예를 들어 dtype 없는 torch.zeros(...)는 float32를 만듭니다.
# earns: 0

def attend_loop(query, key, value):
    return attended(query, key, value).float()


# %% attend_softmax_over_queries
# says: The weights of each key add up to 1; those of each query are to: softmax over the keys, dim=2.
# says-ko: key마다 가중치의 합이 1입니다. query마다 1이어야 합니다. key 쪽, dim=2로 softmax를 하세요.
# earns: 0.5

def attend(query, key, value, mask=None):
    return attended(query, key, value, mask, dim=1)


# %% attend_without_the_root
# says: The products are not divided: divide them by the square root of D.
# says-ko: 곱을 나누지 않았습니다. D의 제곱근으로 나누어야 합니다.
# earns: 0.7

def attend(query, key, value, mask=None):
    return attended(query, key, value, mask, scale=1.0)


# %% attend_divides_by_D
# says: The products are divided by D; divide them by its square root.
# says-ko: 곱을 D로 나누었습니다. D의 제곱근으로 나누어야 합니다.
# earns: 0.7

def attend(query, key, value, mask=None):
    return attended(query, key, value, mask, scale=query.shape[2])


# %% attend_overflows
# says: Large products overflow in exp: take the largest off all of them first, or use softmax.
# says-ko: 큰 곱이 exp에서 넘칩니다. 먼저 가장 큰 곱을 빼거나 softmax를 쓰세요.
# earns: 0

def attend(query, key, value, mask=None):
    powers = (query @ key.transpose(1, 2) / math.sqrt(query.shape[2])).exp()
    powers = powers if mask is None else torch.where(mask, powers, 0.0)
    return powers / powers.sum(dim=2, keepdim=True) @ value


# %% attend_mask_the_other_way
# says: The mask works the other way round: True marks the keys that a query may look at.
# says-ko: mask가 반대로 작동합니다. True가 query가 볼 수 있는 key입니다.
# earns: 0.7

def attend(query, key, value, mask=None):
    return attended(query, key, value, None if mask is None else ~mask, masked=-1e30)


# %% attend_masks_by_zero
# says: Masked products are 0, and exp(0) is 1: they still get a weight. Make them -inf.
# says-ko: 가린 곱이 0인데 exp(0)은 1이라 가중치가 남습니다. -inf로 만드세요.
# earns: 0.7

def attend(query, key, value, mask=None):
    return attended(query, key, value, mask, masked=0.0)


# %% attend_masks_after_the_softmax
# says: Masked weights are 0, but those that are left do not add up to 1: mask before the softmax.
# says-ko: 가린 가중치는 0이지만 남은 가중치의 합이 1이 아닙니다. softmax 전에 가리세요.
# earns: 0.6

def attend(query, key, value, mask=None):
    weights = (query @ key.transpose(1, 2) / math.sqrt(query.shape[2])).softmax(dim=2)
    return (weights if mask is None else torch.where(mask, weights, 0.0)) @ value


# %% attend_ignores_the_mask
# says: The mask has no effect.
# says-ko: mask가 아무 효과가 없습니다.
# earns: 0

def attend(query, key, value, mask=None):
    return attended(query, key, value)


# %% attend_in_float64
# says: The result is float64 for float32 inputs, too; keep their dtype.
# says-ko: float32 입력의 결과도 float64입니다. 입력의 dtype을 유지해야 합니다.
# earns: 0

def attend(query, key, value, mask=None):
    return attended(query.double(), key.double(), value.double(), mask)


# %% mask_looks_ahead
# says: The mask is True for later places; a place looks at itself and at earlier ones.
# says-ko: 뒤의 자리가 True입니다. 각 자리는 자신과 앞의 자리를 봅니다.
# earns: 0.5

def causal_mask(length):
    places = torch.arange(length)
    return places >= places[:, None]


# %% mask_without_itself
# says: The diagonal is False; each place looks at itself, too.
# says-ko: 대각선이 False입니다. 각 자리는 자신도 봅니다.
# earns: 0.6

def causal_mask(length):
    places = torch.arange(length)
    return places < places[:, None]


# %% mask_of_numbers
# says: The mask is made of the numbers 0 and 1; its dtype should be bool.
# says-ko: mask가 숫자 0과 1입니다. dtype이 bool이어야 합니다.
# earns: 0

def causal_mask(length):
    places = torch.arange(length)
    return (places <= places[:, None]).float()


# %% heads_interleaved
# says: Each head gets every H-th number; it gets numbers that lie together: view(..., H, dim // H).
# says-ko: 각 head가 H개마다 하나씩 가져갔습니다. 이어진 수여야 합니다: view(..., H, dim // H).
# earns: 0.7

class MultiHeadAttention(Heads):
    def forward(self, x, mask=None):
        return self.run(x, mask, interleaved=True)


# %% heads_root_of_dim
# says: The products are divided by the root of dim; D is the number of entries of one head, dim // num_heads.
# says-ko: 곱을 dim의 제곱근으로 나누었습니다. D는 head 하나의 크기 dim // num_heads입니다.
# earns: 0.8

class MultiHeadAttention(Heads):
    def forward(self, x, mask=None):
        return self.run(x, mask, scale=math.sqrt(x.shape[2]))


# %% heads_forget_the_mask
# says: The mask has no effect: hand it on to attend.
# says-ko: mask가 아무 효과가 없습니다. attend에 넘기세요.
# earns: 0

class MultiHeadAttention(Heads):
    def forward(self, x, mask=None):
        return self.run(x, None)


# %% block_norms_afterwards
# says: The norms come after the sums; norm1 and norm2 come before attention and the two layers.
# says-ko: norm이 더한 뒤에 있습니다. norm1과 norm2는 attention과 두 층 앞에 와야 합니다.
# right: MultiHeadAttention
# earns: 0.6

class Block(Layers):
    def forward(self, x, mask=None):
        y = self.norm1(x + self.attention(x, mask))
        return self.norm2(y + self.think(y))


# %% block_adds_once
# says: The second part replaces what is there; add it.
# says-ko: 두 번째 부분이 있던 값을 대신합니다. 더해야 합니다.
# right: MultiHeadAttention
# earns: 0.7

class Block(Layers):
    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask)
        return self.think(self.norm2(y))


# %% block_one_norm_for_both
# says: norm1 is used twice; the second part has a norm of its own, norm2.
# says-ko: norm1을 두 번 썼습니다. 두 번째 부분에는 norm2를 써야 합니다.
# right: MultiHeadAttention
# earns: 0.8

class Block(Layers):
    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask)
        return y + self.think(self.norm1(y))


# %% block_forgets_the_mask
# says: The mask has no effect: hand it on to attention.
# says-ko: mask가 아무 효과가 없습니다. attention에 넘기세요.
# right: MultiHeadAttention
# earns: 0

class Block(Layers):
    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x))
        return y + self.think(self.norm2(y))


# %% copy_gradients_add_up
# says: The gradients of earlier steps are still there: call optimizer.zero_grad() in every step.
# says-ko: 이전 단계의 기울기가 남아 있습니다. 단계마다 optimizer.zero_grad()를 부르세요.
# earns: 0.6

def train_to_copy(model, x, target, learning_rate, steps):
    return copied(model, x, target, torch.optim.SGD(model.parameters(), learning_rate), steps, zero=False)


# %% copy_without_the_mask
# says: Every place sees all places: hand the causal mask to the model.
# says-ko: 모든 자리가 모든 자리를 봅니다. 인과 mask를 모델에 넘기세요.
# earns: 0.6

def train_to_copy(model, x, target, learning_rate, steps):
    return copied(model, x, target, torch.optim.SGD(model.parameters(), learning_rate), steps, all_places=True)


# %% copy_by_adam
# says: The steps are those of Adam; SGD is asked for.
# says-ko: Adam으로 갱신했습니다. SGD여야 합니다.
# earns: 0.6

def train_to_copy(model, x, target, learning_rate, steps):
    return copied(model, x, target, torch.optim.Adam(model.parameters(), learning_rate), steps)


# %% copy_sums_the_loss
# says: The loss is the sum of the squares; their mean is asked for.
# says-ko: 손실이 제곱의 합입니다. 평균이어야 합니다.
# earns: 0.8

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.SGD(model.parameters(), learning_rate)
    return copied(model, x, target, optimizer, steps, reduce=torch.sum)


# %% copy_loss_after_the_step
# says: Each loss is that after its step; the loss before the step is asked for.
# says-ko: 단계 뒤의 손실입니다. 단계 전의 손실이어야 합니다.
# earns: 0.5

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.SGD(model.parameters(), learning_rate)
    losses = copied(model, x, target, optimizer, steps)
    places = torch.arange(x.shape[1])
    last = (model(x, places <= places[:, None]) - target).square().mean()
    return [*losses[1:], last.item()]

# %% loop_root_of_the_keys
# says: The products are divided by the root of the number of keys; D, the length of a vector, is meant.
# says-ko: 키의 개수의 제곱근으로 나누었습니다. 벡터의 길이 D의 제곱근이어야 합니다.
# earns: 0.6

def attend_loop(query, key, value):
    return attended(query, key, value, scale=math.sqrt(key.shape[1]))


# %% loop_times_the_root
# says: The products are multiplied by the root of D; divide them by it.
# says-ko: D의 제곱근을 곱했습니다. 그것으로 나누어야 합니다.
# earns: 0.7

def attend_loop(query, key, value):
    return attended(query, key, value, scale=1 / math.sqrt(query.shape[2]))


# %% loop_softmax_over_queries
# says: The weights of each key add up to 1; those of each query are to: softmax over the keys.
# says-ko: 각 키의 가중치 합이 1입니다. 각 쿼리의 가중치 합이 1이어야 하므로 키에 대해 softmax를 구하세요.
# earns: 0.5

def attend_loop(query, key, value):
    return attended(query, key, value, dim=1)


# %% loop_without_softmax
# says: The products themselves are the weights; take their softmax over the keys first.
# says-ko: 곱 자체를 가중치로 썼습니다. 먼저 키에 대해 softmax를 구하세요.
# earns: 0.4

def attend_loop(query, key, value):
    return query @ key.transpose(1, 2) / math.sqrt(query.shape[2]) @ value


# %% loop_root_after_the_softmax
# says: The root of D divides the result; it is to divide the products, before the softmax.
# says-ko: D의 제곱근으로 결과를 나누었습니다. softmax 앞에서 곱을 나누어야 합니다.
# earns: 0.6

def attend_loop(query, key, value):
    return attended(query, key, value, scale=1.0) / math.sqrt(query.shape[2])


# %% loop_softmax_twice
# says: The softmax is taken twice; once is enough.
# says-ko: softmax를 두 번 구했습니다. 한 번이면 됩니다.
# earns: 0.6

def attend_loop(query, key, value):
    return (query @ key.transpose(1, 2) / math.sqrt(query.shape[2])).softmax(dim=2).softmax(dim=2) @ value


# %% loop_powers_not_divided
# says: The weights of a query are powers that do not add up to 1: divide them by their sum.
# says-ko: 가중치가 지수 함수의 값 그대로라서 합이 1이 아닙니다. 합으로 나누세요.
# earns: 0.5

def attend_loop(query, key, value):
    return (query @ key.transpose(1, 2) / math.sqrt(query.shape[2])).exp() @ value


# %% loop_overflows
# says: Large products overflow in exp: take the largest off all of them first, or use softmax.
# says-ko: 큰 곱이 exp에서 넘칩니다. 먼저 가장 큰 값을 모두에서 빼거나 softmax를 쓰세요.
# earns: 0

def attend_loop(query, key, value):
    powers = (query @ key.transpose(1, 2) / math.sqrt(query.shape[2])).exp()
    return powers / powers.sum(dim=2, keepdim=True) @ value


# %% loop_first_sequence_only
# says: Only the first sequence of the batch has a result; the others are 0.
# says-ko: 배치의 첫 시퀀스에만 결과가 있고 나머지는 0입니다.
# earns: 0.3

def attend_loop(query, key, value):
    result = torch.zeros_like(query)
    result[0] = attended(query, key, value)[0]
    return result


# %% attend_root_of_the_keys
# says: The products are divided by the root of the number of keys; D, the length of a vector, is meant.
# says-ko: 키의 개수의 제곱근으로 나누었습니다. 벡터의 길이 D의 제곱근이어야 합니다.
# earns: 0.6

def attend(query, key, value, mask=None):
    return attended(query, key, value, mask, scale=math.sqrt(key.shape[1]))


# %% attend_times_the_root
# says: The products are multiplied by the root of D; divide them by it.
# says-ko: D의 제곱근을 곱했습니다. 그것으로 나누어야 합니다.
# earns: 0.7

def attend(query, key, value, mask=None):
    return attended(query, key, value, mask, scale=1 / math.sqrt(query.shape[2]))


# %% attend_without_softmax
# says: The products themselves are the weights; take their softmax over the keys first.
# says-ko: 곱 자체를 가중치로 썼습니다. 먼저 키에 대해 softmax를 구하세요.
# earns: 0.4

def attend(query, key, value, mask=None):
    products = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
    return (products if mask is None else torch.where(mask, products, 0.0)) @ value


# %% attend_softmax_over_the_batch
# says: The softmax runs over the sequences of the batch, dim=0; it is to run over the keys, dim=2.
# says-ko: softmax를 배치(dim=0)에 대해 구했습니다. 키(dim=2)에 대해 구해야 합니다.
# earns: 0.5

def attend(query, key, value, mask=None):
    return attended(query, key, value, mask, dim=0)


# %% attend_softmax_twice
# says: The softmax is taken twice; once is enough.
# says-ko: softmax를 두 번 구했습니다. 한 번이면 됩니다.
# earns: 0.6

def attend(query, key, value, mask=None):
    products = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
    products = products if mask is None else torch.where(mask, products, -math.inf)
    return products.softmax(dim=2).softmax(dim=2) @ value


# %% attend_root_after_the_softmax
# says: The root of D divides the result; it is to divide the products, before the softmax.
# says-ko: D의 제곱근으로 결과를 나누었습니다. softmax 앞에서 곱을 나누어야 합니다.
# earns: 0.6

def attend(query, key, value, mask=None):
    return attended(query, key, value, mask, scale=1.0) / math.sqrt(query.shape[2])


# %% attend_float32_buffer
# says: float64 comes back as float32; torch.zeros(...) without a dtype, for one, makes float32.
# says-ko: float64의 결과가 float32입니다. 예를 들어 dtype 없는 torch.zeros(...)는 float32를 만듭니다.
# earns: 0

def attend(query, key, value, mask=None):
    return attended(query, key, value, mask).float()


# %% attend_masks_by_a_tiny_number
# says: Masked products become -1e-9, which is nearly 0: they still get a weight. Make them -inf, or -1e9.
# says-ko: 가린 곱이 거의 0인 -1e-9가 되어 여전히 가중치를 얻습니다. -inf나 -1e9로 하세요.
# earns: 0.7

def attend(query, key, value, mask=None):
    return attended(query, key, value, mask, masked=-1e-9)


# %% attend_adds_the_mask
# says: The mask is added to the products as 0 and 1: hidden keys still get a weight. Make their products -inf.
# says-ko: 마스크를 0과 1로 곱에 더했으므로 가린 키도 가중치를 얻습니다. 그 곱을 -inf로 하세요.
# earns: 0.5

def attend(query, key, value, mask=None):
    products = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
    return (products if mask is None else products + mask).softmax(dim=2) @ value


# %% attend_unscaled_and_unmasked
# says: The products are not divided by the root of D, and the mask has no effect.
# says-ko: 곱을 D의 제곱근으로 나누지 않았고, 마스크도 효과가 없습니다.
# earns: 0.3

def attend(query, key, value, mask=None):
    return attended(query, key, value, scale=1.0)


# %% mask_of_whole_numbers
# says: The mask is made of the numbers 0 and 1; its dtype should be bool.
# says-ko: 마스크가 숫자 0과 1로 되어 있습니다. dtype은 bool이어야 합니다.
# earns: 0

def causal_mask(length):
    places = torch.arange(length)
    return (places <= places[:, None]).long()


# %% mask_all_true
# says: Every place may look at every place; the entries above the diagonal are to be False.
# says-ko: 모든 위치가 모든 위치를 볼 수 있습니다. 대각선 위는 False여야 합니다.
# earns: 0

def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool)


# %% mask_one_place_ahead
# says: Each place may look one place ahead; itself is the last that it may look at.
# says-ko: 한 자리 뒤까지 볼 수 있습니다. 자기 자신까지만 볼 수 있어야 합니다.
# earns: 0.5

def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril(diagonal=1)


# %% mask_marks_the_hidden
# says: True marks what is hidden, as in nn.MultiheadAttention; here it marks what may be looked at.
# says-ko: nn.MultiheadAttention처럼 가릴 곳이 True입니다. 여기서는 볼 수 있는 곳이 True입니다.
# earns: 0.5

def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).triu(diagonal=1)


# %% mask_to_be_added
# says: This is a mask to add to products, of 0 and -inf; one of bool is asked for.
# says-ko: 곱에 더하는 0과 -inf의 마스크입니다. bool 마스크여야 합니다.
# earns: 0.4

def causal_mask(length):
    return torch.full((length, length), -math.inf).triu(diagonal=1)


# %% heads_cut_by_view
# says: A view cuts the numbers of several places into one head: view(B, N, H, D // H) first, then transpose(1, 2).
# says-ko: view만으로 나누어 여러 위치의 숫자가 한 헤드에 섞였습니다. view(B, N, H, D // H) 다음에 transpose(1, 2)를 하세요.
# earns: 0.5

class MultiHeadAttention(Heads):
    def forward(self, x, mask=None):
        batch, places, dim = x.shape
        parts = (
            layer(x).reshape(batch * self.num_heads, places, dim // self.num_heads)
            for layer in (self.query, self.key, self.value)
        )
        return self.output(attended(*parts, mask).reshape(batch, places, dim))


# %% heads_put_together_by_view
# says: The heads are put together by a view alone; transpose(1, 2) first, so that a place has all its heads.
# says-ko: view만으로 헤드를 합쳤습니다. 먼저 transpose(1, 2)를 해서 각 위치에 모든 헤드가 오게 하세요.
# earns: 0.6

class MultiHeadAttention(Heads):
    def forward(self, x, mask=None):
        return self.run(x, mask, back=False)


# %% heads_without_output
# says: The layer output is missing: what the heads return goes through it.
# says-ko: output 층이 빠졌습니다. 헤드의 결과를 그 층에 통과시켜야 합니다.
# earns: 0.6

class MultiHeadAttention(Heads):
    def forward(self, x, mask=None):
        return self.run(x, mask, output=False)


# %% heads_ignored
# says: There is one head, whatever num_heads says.
# says-ko: num_heads와 상관없이 헤드가 하나입니다.
# earns: 0.4

class MultiHeadAttention(Heads):
    def forward(self, x, mask=None):
        return self.output(attended(self.query(x), self.key(x), self.value(x), mask))


# %% heads_not_scaled
# says: The products are not divided: divide them by the root of a head's number of entries.
# says-ko: 곱을 나누지 않았습니다. 헤드 하나의 크기의 제곱근으로 나누세요.
# earns: 0.7

class MultiHeadAttention(Heads):
    def forward(self, x, mask=None):
        return self.run(x, mask, scale=1.0)


# %% heads_values_from_keys
# says: The layer key is used for the values, too; they have a layer of their own, value.
# says-ko: value에도 key 층을 썼습니다. value에는 value 층을 쓰세요.
# earns: 0.6

class MultiHeadAttention(Heads):
    def forward(self, x, mask=None):
        self.value = self.key
        return self.run(x, mask)


# %% heads_keys_from_queries
# says: The layer query is used for the keys, too; they have a layer of their own, key.
# says-ko: key에도 query 층을 썼습니다. key에는 key 층을 쓰세요.
# earns: 0.6

class MultiHeadAttention(Heads):
    def forward(self, x, mask=None):
        self.key = self.query
        return self.run(x, mask)


# %% heads_mask_the_other_way
# says: The mask works the other way round: True marks the places that may be looked at.
# says-ko: 마스크가 반대로 작동합니다. 볼 수 있는 곳이 True입니다.
# earns: 0.6

class MultiHeadAttention(Heads):
    def forward(self, x, mask=None):
        return self.run(x, None if mask is None else ~mask, masked=-1e30)


# %% block_second_from_x
# says: The second part is added to x; add it to y, which the first part has made.
# says-ko: 둘째 부분을 x에 더했습니다. 첫 부분이 만든 y에 더해야 합니다.
# right: MultiHeadAttention
# earns: 0.7

class Block(Layers):
    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask)
        return x + self.think(self.norm2(y))


# %% block_first_not_added
# says: The attention replaces x; add it to x.
# says-ko: attention의 결과가 x를 대신했습니다. x에 더해야 합니다.
# right: MultiHeadAttention
# earns: 0.7

class Block(Layers):
    def forward(self, x, mask=None):
        y = self.attention(self.norm1(x), mask)
        return y + self.think(self.norm2(y))


# %% block_never_adds
# says: Nothing is added: each of the two parts replaces what it gets.
# says-ko: 더하는 곳이 없습니다. 두 부분 모두 받은 것을 대신했습니다.
# right: MultiHeadAttention
# earns: 0.5

class Block(Layers):
    def forward(self, x, mask=None):
        return self.think(self.norm2(self.attention(self.norm1(x), mask)))


# %% block_without_relu
# says: There is no ReLU between wide and narrow.
# says-ko: wide와 narrow 사이에 ReLU가 없습니다.
# right: MultiHeadAttention
# earns: 0.7

class Block(Layers):
    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask)
        return y + self.narrow(self.wide(self.norm2(y)))


# %% block_gelu
# says: A GELU stands between wide and narrow; a ReLU is asked for.
# says-ko: wide와 narrow 사이에 GELU가 있습니다. ReLU여야 합니다.
# right: MultiHeadAttention
# earns: 0.8

class Block(Layers):
    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask)
        return y + self.narrow(nn.functional.gelu(self.wide(self.norm2(y))))


# %% block_relu_at_the_end
# says: The ReLU comes after narrow; it stands between wide and narrow.
# says-ko: ReLU가 narrow 뒤에 있습니다. wide와 narrow 사이에 있어야 합니다.
# right: MultiHeadAttention
# earns: 0.7

class Block(Layers):
    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask)
        return y + self.narrow(self.wide(self.norm2(y))).clamp(min=0)


# %% block_without_norms
# says: norm1 and norm2 are not used; they come before attention and the two layers.
# says-ko: norm1과 norm2를 쓰지 않았습니다. attention과 두 층 앞에 있어야 합니다.
# right: MultiHeadAttention
# earns: 0.5

class Block(Layers):
    def forward(self, x, mask=None):
        y = x + self.attention(x, mask)
        return y + self.think(y)


# %% block_without_norm2
# says: norm2 is not used; it comes before wide.
# says-ko: norm2를 쓰지 않았습니다. wide 앞에 있어야 합니다.
# right: MultiHeadAttention
# earns: 0.7

class Block(Layers):
    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask)
        return y + self.think(y)


# %% block_parts_side_by_side
# says: wide sees x; it is to see y, in which the attention is already added.
# says-ko: wide가 x를 받았습니다. attention을 더한 y를 받아야 합니다.
# right: MultiHeadAttention
# earns: 0.6

class Block(Layers):
    def forward(self, x, mask=None):
        return x + self.attention(self.norm1(x), mask) + self.think(self.norm2(x))


# %% block_norms_the_parts
# says: The norms come after attention and the two layers; norm1 and norm2 come before them.
# says-ko: norm이 attention과 두 층 뒤에 있습니다. 그 앞에 있어야 합니다.
# right: MultiHeadAttention
# earns: 0.6

class Block(Layers):
    def forward(self, x, mask=None):
        y = x + self.norm1(self.attention(x, mask))
        return y + self.norm2(self.think(y))


# %% copy_no_weight_changes
# says: No weight has changed: p = p - ... makes a new tensor, and zero_grad() between backward() and step() leaves
#   nothing to step by.
# says-ko: 가중치가 변하지 않았습니다. p = p - ...는 새 텐서를 만들고, backward()와 step() 사이의 zero_grad()는
#   기울기를 지웁니다.
# earns: 0.4

def train_to_copy(model, x, target, learning_rate, steps):
    return copied(model, x, target, torch.optim.SGD(model.parameters(), 0.0), steps)


# %% copy_uphill
# says: The steps go along the gradient, uphill: subtract it.
# says-ko: 기울기 방향으로 올라갔습니다. 기울기를 빼야 합니다.
# earns: 0.7

def train_to_copy(model, x, target, learning_rate, steps):
    return copied(model, x, target, torch.optim.SGD(model.parameters(), learning_rate, maximize=True), steps)


# %% copy_with_momentum
# says: The steps have a momentum of 0.9; plain gradient descent is asked for.
# says-ko: 모멘텀 0.9로 학습했습니다. 보통의 경사 하강법이어야 합니다.
# earns: 0.7

def train_to_copy(model, x, target, learning_rate, steps):
    return copied(model, x, target, torch.optim.SGD(model.parameters(), learning_rate, momentum=0.9), steps)


# %% copy_by_adam_and_sum
# says: The steps are those of Adam, on a sum of squares; SGD on their mean is asked for.
# says-ko: 제곱의 합에 Adam을 썼습니다. 제곱의 평균에 SGD를 써야 합니다.
# earns: 0.4

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.Adam(model.parameters(), learning_rate)
    return copied(model, x, target, optimizer, steps, reduce=torch.sum)


# %% copy_absolute
# says: The loss is made of absolute differences; their squares are asked for.
# says-ko: 차의 절댓값으로 손실을 구했습니다. 제곱이어야 합니다.
# earns: 0.7

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.SGD(model.parameters(), learning_rate)
    return copied(model, x, target, optimizer, steps, reduce=lambda squares: squares.sqrt().mean())


# %% copy_root_of_the_mean
# says: The loss is the root of the mean; take no root.
# says-ko: 평균의 제곱근을 손실로 썼습니다. 제곱근을 구하지 마세요.
# earns: 0.7

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.SGD(model.parameters(), learning_rate)
    return copied(model, x, target, optimizer, steps, reduce=lambda squares: squares.mean().sqrt())


# %% copy_half_the_mean
# says: The loss is half of the mean; take the mean itself.
# says-ko: 평균의 절반을 손실로 썼습니다. 평균 그대로여야 합니다.
# earns: 0.7

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.SGD(model.parameters(), learning_rate)
    return copied(model, x, target, optimizer, steps, reduce=lambda squares: squares.mean() / 2)


# %% copy_looks_ahead
# says: The mask is upside down: every place sees itself and later ones, not earlier ones.
# says-ko: 마스크가 거꾸로입니다. 각 위치가 앞이 아니라 뒤의 위치를 봅니다.
# earns: 0.7

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.SGD(model.parameters(), learning_rate)
    return copied(model, x, target, optimizer, steps, ahead=True)


# %% copy_one_step_more
# says: There is one step more than steps.
# says-ko: steps보다 한 단계 더 했습니다.
# earns: 0.7

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.SGD(model.parameters(), learning_rate)
    return copied(model, x, target, optimizer, steps + 1)


# %% copy_last_loss_alone
# says: This is a single loss; a list with that of each step is asked for.
# says-ko: 손실 하나입니다. 각 단계의 손실 목록이어야 합니다.
# earns: 0.3

def train_to_copy(model, x, target, learning_rate, steps):
    return copied(model, x, target, torch.optim.SGD(model.parameters(), learning_rate), steps)[-1]
