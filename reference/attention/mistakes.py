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

    def run(self, x, mask, interleaved=False, scale=None):
        """Return what forward is asked for."""
        batch, places, dim = x.shape
        size = dim // self.num_heads

        def heads(layer):
            if interleaved:
                parts = layer(x).view(batch, places, size, self.num_heads).permute(0, 3, 1, 2)
            else:
                parts = layer(x).view(batch, places, self.num_heads, size).transpose(1, 2)
            return parts.flatten(0, 1)

        query, key, value = heads(self.query), heads(self.key), heads(self.value)
        seen = attended(query, key, value, mask, scale)
        seen = seen.view(batch, self.num_heads, places, size)
        seen = seen.permute(0, 2, 3, 1) if interleaved else seen.transpose(1, 2)
        return self.output(seen.reshape(batch, places, dim))


def copied(model, x, target, optimizer, steps, zero=True, all_places=False, reduce=torch.mean):
    """Return what train_to_copy is asked for, or something near it."""
    places = torch.arange(x.shape[1])
    losses = []
    for _ in range(steps):
        mask = (places <= places[:, None]) | all_places
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

def attend_loop(query, key, value):
    return attended(query, key, value, scale=1.0)


# %% loop_divides_by_D
# says: The products are divided by D; divide them by its square root.
# says-ko: 곱을 D로 나누었습니다. D의 제곱근으로 나누어야 합니다.

def attend_loop(query, key, value):
    return attended(query, key, value, scale=query.shape[2])


# %% loop_in_float64
# says: The result is float64 for float32 inputs, too; keep their dtype.
# says-ko: float32 입력의 결과도 float64입니다. 입력의 dtype을 유지해야 합니다.

def attend_loop(query, key, value):
    return attended(query.double(), key.double(), value.double())


# %% attend_loop_float32_buffer
# says: float64 comes back as float32; torch.zeros(...) without a dtype, for one, makes float32.
# says-ko: float64의 결과가 float32입니다. 예를 들어 dtype 없는 torch.zeros(...)는 float32를 만듭니다.

def attend_loop(query, key, value):
    return attended(query, key, value).float()


# %% attend_softmax_over_queries
# says: The weights of each key add up to 1; those of each query are to: softmax over the keys, dim=2.
# says-ko: key마다 가중치의 합이 1입니다. query마다 1이어야 합니다. key 쪽, dim=2로 softmax를 하세요.

def attend(query, key, value, mask=None):
    return attended(query, key, value, mask, dim=1)


# %% attend_without_the_root
# says: The products are not divided: divide them by the square root of D.
# says-ko: 곱을 나누지 않았습니다. D의 제곱근으로 나누어야 합니다.

def attend(query, key, value, mask=None):
    return attended(query, key, value, mask, scale=1.0)


# %% attend_divides_by_D
# says: The products are divided by D; divide them by its square root.
# says-ko: 곱을 D로 나누었습니다. D의 제곱근으로 나누어야 합니다.

def attend(query, key, value, mask=None):
    return attended(query, key, value, mask, scale=query.shape[2])


# %% attend_overflows
# says: Large products overflow in exp: take the largest off all of them first, or use softmax.
# says-ko: 큰 곱이 exp에서 넘칩니다. 먼저 가장 큰 곱을 빼거나 softmax를 쓰세요.

def attend(query, key, value, mask=None):
    powers = (query @ key.transpose(1, 2) / math.sqrt(query.shape[2])).exp()
    powers = powers if mask is None else torch.where(mask, powers, 0.0)
    return powers / powers.sum(dim=2, keepdim=True) @ value


# %% attend_mask_the_other_way
# says: The mask works the other way round: True marks the keys that a query may look at.
# says-ko: mask가 반대로 작동합니다. True가 query가 볼 수 있는 key입니다.

def attend(query, key, value, mask=None):
    return attended(query, key, value, None if mask is None else ~mask, masked=-1e30)


# %% attend_masks_by_zero
# says: Masked products are 0, and exp(0) is 1: they still get a weight. Make them -inf.
# says-ko: 가린 곱이 0인데 exp(0)은 1이라 가중치가 남습니다. -inf로 만드세요.

def attend(query, key, value, mask=None):
    return attended(query, key, value, mask, masked=0.0)


# %% attend_masks_after_the_softmax
# says: Masked weights are 0, but those that are left do not add up to 1: mask before the softmax.
# says-ko: 가린 가중치는 0이지만 남은 가중치의 합이 1이 아닙니다. softmax 전에 가리세요.

def attend(query, key, value, mask=None):
    weights = (query @ key.transpose(1, 2) / math.sqrt(query.shape[2])).softmax(dim=2)
    return (weights if mask is None else torch.where(mask, weights, 0.0)) @ value


# %% attend_ignores_the_mask
# says: The mask has no effect.
# says-ko: mask가 아무 효과가 없습니다.

def attend(query, key, value, mask=None):
    return attended(query, key, value)


# %% attend_in_float64
# says: The result is float64 for float32 inputs, too; keep their dtype.
# says-ko: float32 입력의 결과도 float64입니다. 입력의 dtype을 유지해야 합니다.

def attend(query, key, value, mask=None):
    return attended(query.double(), key.double(), value.double(), mask)


# %% mask_looks_ahead
# says: The mask is True for later places; a place looks at itself and at earlier ones.
# says-ko: 뒤의 자리가 True입니다. 각 자리는 자신과 앞의 자리를 봅니다.

def causal_mask(length):
    places = torch.arange(length)
    return places >= places[:, None]


# %% mask_without_itself
# says: The diagonal is False; each place looks at itself, too.
# says-ko: 대각선이 False입니다. 각 자리는 자신도 봅니다.

def causal_mask(length):
    places = torch.arange(length)
    return places < places[:, None]


# %% mask_of_numbers
# says: The mask is made of the numbers 0 and 1; its dtype should be bool.
# says-ko: mask가 숫자 0과 1입니다. dtype이 bool이어야 합니다.

def causal_mask(length):
    places = torch.arange(length)
    return (places <= places[:, None]).float()


# %% heads_interleaved
# says: Each head gets every H-th number; it gets numbers that lie together: view(..., H, dim // H).
# says-ko: 각 head가 H개마다 하나씩 가져갔습니다. 이어진 수여야 합니다: view(..., H, dim // H).

class MultiHeadAttention(Heads):
    def forward(self, x, mask=None):
        return self.run(x, mask, interleaved=True)


# %% heads_root_of_dim
# says: The products are divided by the root of dim; D is the number of entries of one head, dim // num_heads.
# says-ko: 곱을 dim의 제곱근으로 나누었습니다. D는 head 하나의 크기 dim // num_heads입니다.

class MultiHeadAttention(Heads):
    def forward(self, x, mask=None):
        return self.run(x, mask, scale=math.sqrt(x.shape[2]))


# %% heads_forget_the_mask
# says: The mask has no effect: hand it on to attend.
# says-ko: mask가 아무 효과가 없습니다. attend에 넘기세요.

class MultiHeadAttention(Heads):
    def forward(self, x, mask=None):
        return self.run(x, None)


# %% block_norms_afterwards
# says: The norms come after the sums; norm1 and norm2 come before attention and the two layers.
# says-ko: norm이 더한 뒤에 있습니다. norm1과 norm2는 attention과 두 층 앞에 와야 합니다.
# right: MultiHeadAttention

class Block(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = MultiHeadAttention(dim, num_heads)
        self.wide, self.narrow = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x, mask=None):
        y = self.norm1(x + self.attention(x, mask))
        return self.norm2(y + self.narrow(self.wide(y).clamp(min=0)))


# %% block_adds_once
# says: The second part replaces what is there; add it.
# says-ko: 두 번째 부분이 있던 값을 대신합니다. 더해야 합니다.
# right: MultiHeadAttention

class Block(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = MultiHeadAttention(dim, num_heads)
        self.wide, self.narrow = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask)
        return self.narrow(self.wide(self.norm2(y)).clamp(min=0))


# %% block_one_norm_for_both
# says: norm1 is used twice; the second part has a norm of its own, norm2.
# says-ko: norm1을 두 번 썼습니다. 두 번째 부분에는 norm2를 써야 합니다.
# right: MultiHeadAttention

class Block(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = MultiHeadAttention(dim, num_heads)
        self.wide, self.narrow = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask)
        return y + self.narrow(self.wide(self.norm1(y)).clamp(min=0))


# %% block_forgets_the_mask
# says: The mask has no effect: hand it on to attention.
# says-ko: mask가 아무 효과가 없습니다. attention에 넘기세요.
# right: MultiHeadAttention

class Block(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = MultiHeadAttention(dim, num_heads)
        self.wide, self.narrow = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x))
        return y + self.narrow(self.wide(self.norm2(y)).clamp(min=0))


# %% copy_gradients_add_up
# says: The gradients of earlier steps are still there: call optimizer.zero_grad() in every step.
# says-ko: 이전 단계의 기울기가 남아 있습니다. 단계마다 optimizer.zero_grad()를 부르세요.

def train_to_copy(model, x, target, learning_rate, steps):
    return copied(model, x, target, torch.optim.SGD(model.parameters(), learning_rate), steps, zero=False)


# %% copy_without_the_mask
# says: Every place sees all places: hand the causal mask to the model.
# says-ko: 모든 자리가 모든 자리를 봅니다. 인과 mask를 모델에 넘기세요.

def train_to_copy(model, x, target, learning_rate, steps):
    return copied(model, x, target, torch.optim.SGD(model.parameters(), learning_rate), steps, all_places=True)


# %% copy_by_adam
# says: The steps are those of Adam; SGD is asked for.
# says-ko: Adam의 걸음입니다. SGD여야 합니다.

def train_to_copy(model, x, target, learning_rate, steps):
    return copied(model, x, target, torch.optim.Adam(model.parameters(), learning_rate), steps)


# %% copy_sums_the_loss
# says: The loss is the sum of the squares; their mean is asked for.
# says-ko: 손실이 제곱의 합입니다. 평균이어야 합니다.

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.SGD(model.parameters(), learning_rate)
    return copied(model, x, target, optimizer, steps, reduce=torch.sum)


# %% copy_loss_after_the_step
# says: Each loss is that after its step; the loss before the step is asked for.
# says-ko: 걸음 뒤의 손실입니다. 걸음 전의 손실이어야 합니다.

def train_to_copy(model, x, target, learning_rate, steps):
    optimizer = torch.optim.SGD(model.parameters(), learning_rate)
    losses = copied(model, x, target, optimizer, steps)
    places = torch.arange(x.shape[1])
    last = (model(x, places <= places[:, None]) - target).square().mean()
    return [*losses[1:], last.item()]
