"""Wrong answers to attention, each with the share of its question's points that a good TA would give."""


# %% loop_no_scale
# taking: Everything but the division by the root of D.
# price: 0.7
# truth: The products are not divided by the root of D.
def attend_loop(query, key, value):
    out = torch.zeros_like(query)
    for b in range(query.shape[0]):
        for i in range(query.shape[1]):
            w = torch.softmax(key[b] @ query[b, i], dim=0)
            out[b, i] = w @ value[b]
    return out


# %% loop_divides_by_d
# taking: Divides by D, not its root.
# price: 0.75
# truth: The products are divided by D instead of its root.
def attend_loop(query, key, value):
    out = torch.zeros_like(query)
    for b in range(query.shape[0]):
        for i in range(query.shape[1]):
            w = torch.softmax(key[b] @ query[b, i] / query.shape[-1], dim=0)
            out[b, i] = w @ value[b]
    return out


# %% loop_no_softmax
# taking: Softmax forgotten.
# price: 0.5
# truth: The softmax is missing: values are weighed by the raw products.
def attend_loop(query, key, value):
    out = torch.zeros_like(query)
    for b in range(query.shape[0]):
        for i in range(query.shape[1]):
            w = key[b] @ query[b, i] / math.sqrt(query.shape[-1])
            out[b, i] = w @ value[b]
    return out


# %% loop_float32
# taking: float32 result for float64.
# price: 0.85
# truth: The result is always float32, also for float64 inputs.
def attend_loop(query, key, value):
    out = torch.zeros(query.shape)
    for b in range(query.shape[0]):
        for i in range(query.shape[1]):
            w = torch.softmax(key[b] @ query[b, i] / math.sqrt(query.shape[-1]), dim=0)
            out[b, i] = w @ value[b]
    return out


# %% loop_own_softmax_overflows
# taking: Softmax by hand without the shift.
# price: 0.85
# truth: The softmax by hand does not take away the greatest product, so large ones overflow.
def attend_loop(query, key, value):
    out = torch.zeros_like(query)
    for b in range(query.shape[0]):
        for i in range(query.shape[1]):
            e = torch.exp(key[b] @ query[b, i] / query.shape[-1] ** 0.5)
            out[b, i] = (e / e.sum()) @ value[b]
    return out


# %% loop_keys_for_values
# taking: Sums keys in place of values.
# price: 0.65
# truth: It adds up the keys instead of the values.
def attend_loop(query, key, value):
    out = torch.zeros_like(query)
    for b in range(query.shape[0]):
        for i in range(query.shape[1]):
            w = torch.softmax(key[b] @ query[b, i] / query.shape[-1] ** 0.5, dim=0)
            out[b, i] = w @ key[b]
    return out


# %% attend_no_scale
# taking: No scale; vectorised, masked.
# price: 0.75
# truth: The products are not divided by the root of D.
def attend(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1)
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return torch.softmax(s, dim=-1) @ value


# %% attend_softmax_dim1
# taking: Softmax over the queries.
# price: 0.65
# truth: The softmax runs over the queries (dim 1) instead of the keys.
def attend(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return torch.softmax(s, dim=1) @ value


# %% attend_mask_inverted
# taking: Mask the wrong way round; without a mask right.
# price: 0.8
# truth: The mask is inverted: it hides the keys that may be seen.
def attend(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s.masked_fill(mask, float("-inf"))
    return torch.softmax(s, dim=-1) @ value


# %% attend_mask_after
# taking: Masks after the softmax: weights don't sum to one.
# price: 0.8
# truth: The mask is applied after the softmax, so the weights do not add up to 1.
def attend(query, key, value, mask=None):
    w = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1]), dim=-1)
    if mask is not None:
        w = w.masked_fill(~mask, 0)
    return w @ value


# %% attend_mask_zero
# taking: Fills with 0 in place of minus infinity.
# price: 0.8
# truth: Hidden products are set to 0 instead of minus infinity, so hidden keys keep a weight.
def attend(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, 0)
    return torch.softmax(s, dim=-1) @ value


# %% attend_mask_ignored
# taking: No mask at all; the rest right.
# price: 0.7
# truth: The mask is ignored.
def attend(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return torch.softmax(s, dim=-1) @ value


# %% attend_loops
# taking: Loop over the batch, right: half as said.
# price: 0.5
# truth: It loops over the batch.
def attend(query, key, value, mask=None):
    out = []
    for b in range(query.shape[0]):
        s = query[b] @ key[b].T / math.sqrt(query.shape[-1])
        if mask is not None:
            s = s.masked_fill(~(mask if mask.dim() == 2 else mask[b]), float("-inf"))
        out.append(s.softmax(dim=-1) @ value[b])
    return torch.stack(out)


# %% attend_sdpa
# taking: Uses the forbidden function; that half is lost as said.
# price: 0.45
# truth: It uses scaled_dot_product_attention, which is not allowed.
def attend(query, key, value, mask=None):
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)


# %% attend_t
# taking: .T on rank 3: crashes or wrong shapes.
# price: 0.5
# truth: .T reverses all dimensions instead of swapping the last two, so it raises an error.
def attend(query, key, value, mask=None):
    s = query @ key.T / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return torch.softmax(s, dim=-1) @ value


# %% causal_triu
# taking: Upper triangle.
# price: 0.5
# truth: It is the upper triangle: each place looks at those after it.
def causal_mask(length):
    return torch.triu(torch.ones(length, length)).bool()


# %% causal_no_diagonal
# taking: Diagonal missing.
# price: 0.6
# truth: The diagonal is missing: no place looks at itself.
def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril(-1)


# %% causal_float
# taking: Right triangle, floats.
# price: 0.75
# truth: The dtype is float32 instead of bool.
def causal_mask(length):
    return torch.tril(torch.ones(length, length))


# %% heads_no_output
# taking: The output layer is made and not used.
# price: 0.65
# truth: The output layer is not applied.
class MultiHeadAttention(nn.Module):
    def forward(self, x, mask=None):
        B, N, D = x.shape
        H = self.num_heads
        q = self.query(x).view(B, N, H, D // H).transpose(1, 2).flatten(0, 1)
        k = self.key(x).view(B, N, H, D // H).transpose(1, 2).flatten(0, 1)
        v = self.value(x).view(B, N, H, D // H).transpose(1, 2).flatten(0, 1)
        out = attend(q, k, v, mask).view(B, H, N, D // H)
        return out.transpose(1, 2).reshape(B, N, D)


# %% heads_view_mixed
# taking: view(B, H, N, D/H) without a transpose: mixes places and heads.
# price: 0.5
# truth: The heads are cut by view without a transpose, so places and heads are mixed.
class MultiHeadAttention(nn.Module):
    def forward(self, x, mask=None):
        B, N, D = x.shape
        H = self.num_heads
        q = self.query(x).view(B * H, N, D // H)
        k = self.key(x).view(B * H, N, D // H)
        v = self.value(x).view(B * H, N, D // H)
        return self.output(attend(q, k, v, mask).view(B, N, D))


# %% heads_single
# taking: One head: the cut into heads is missing.
# price: 0.4
# truth: There is one head only: num_heads is ignored.
class MultiHeadAttention(nn.Module):
    def forward(self, x, mask=None):
        return self.output(attend(self.query(x), self.key(x), self.value(x), mask))


# %% heads_mask_dropped
# taking: Mask not passed on.
# price: 0.75
# truth: The mask is not passed on to attend.
class MultiHeadAttention(nn.Module):
    def forward(self, x, mask=None):
        B, N, D = x.shape
        H = self.num_heads
        q = self.query(x).view(B, N, H, D // H).transpose(1, 2).flatten(0, 1)
        k = self.key(x).view(B, N, H, D // H).transpose(1, 2).flatten(0, 1)
        v = self.value(x).view(B, N, H, D // H).transpose(1, 2).flatten(0, 1)
        out = attend(q, k, v).view(B, H, N, D // H)
        return self.output(out.transpose(1, 2).reshape(B, N, D))


# %% heads_joined_without_transpose
# taking: Cut rightly, joined without transposing back.
# price: 0.6
# truth: The results are joined without transposing back, so places and heads are mixed.
class MultiHeadAttention(nn.Module):
    def forward(self, x, mask=None):
        B, N, D = x.shape
        H = self.num_heads
        q = self.query(x).view(B, N, H, D // H).transpose(1, 2).flatten(0, 1)
        k = self.key(x).view(B, N, H, D // H).transpose(1, 2).flatten(0, 1)
        v = self.value(x).view(B, N, H, D // H).transpose(1, 2).flatten(0, 1)
        return self.output(attend(q, k, v, mask).reshape(B, N, D))


# %% heads_key_for_value
# taking: A slip: value from the key layer.
# price: 0.65
# truth: The values are computed by the key layer.
class MultiHeadAttention(nn.Module):
    def forward(self, x, mask=None):
        B, N, D = x.shape
        H = self.num_heads
        q = self.query(x).view(B, N, H, D // H).transpose(1, 2).flatten(0, 1)
        k = self.key(x).view(B, N, H, D // H).transpose(1, 2).flatten(0, 1)
        v = self.key(x).view(B, N, H, D // H).transpose(1, 2).flatten(0, 1)
        out = attend(q, k, v, mask).view(B, H, N, D // H)
        return self.output(out.transpose(1, 2).reshape(B, N, D))


# %% block_no_first_residual
# taking: First residual forgotten.
# price: 0.6
# truth: The first residual is missing: x is not added to the attention.
class Block(nn.Module):
    def forward(self, x, mask=None):
        y = self.attention(self.norm1(x), mask)
        return y + self.narrow(torch.relu(self.wide(self.norm2(y))))


# %% block_second_residual_x
# taking: Second residual from x.
# price: 0.65
# truth: The second residual adds x instead of y.
class Block(nn.Module):
    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask)
        return x + self.narrow(torch.relu(self.wide(self.norm2(y))))


# %% block_no_relu
# taking: No ReLU.
# price: 0.65
# truth: The ReLU is missing.
class Block(nn.Module):
    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask)
        return y + self.narrow(self.wide(self.norm2(y)))


# %% block_post_norm
# taking: Norm after the residual as in the original paper: a misreading.
# price: 0.5
# truth: The norms come after the residuals instead of before the layers.
class Block(nn.Module):
    def forward(self, x, mask=None):
        y = self.norm1(x + self.attention(x, mask))
        return self.norm2(y + self.narrow(torch.relu(self.wide(y))))


# %% block_mask_dropped
# taking: Mask not passed on.
# price: 0.75
# truth: The mask is not passed on to the attention.
class Block(nn.Module):
    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x))
        return y + self.narrow(torch.relu(self.wide(self.norm2(y))))


# %% block_gelu
# taking: GELU for ReLU.
# price: 0.7
# truth: It uses GELU instead of ReLU.
class Block(nn.Module):
    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask)
        return y + self.narrow(nn.functional.gelu(self.wide(self.norm2(y))))


# %% copy_no_zero_grad
# taking: Gradients add up.
# price: 0.6
# truth: The gradients are never set to zero.
def train_to_copy(model, x, target, learning_rate, steps):
    mask = causal_mask(x.shape[1])
    opt = torch.optim.SGD(model.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = ((model(x, mask) - target) ** 2).mean()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses


# %% copy_sum
# taking: Sum for mean.
# price: 0.65
# truth: The loss is the sum of the squares instead of their mean.
def train_to_copy(model, x, target, learning_rate, steps):
    mask = causal_mask(x.shape[1])
    opt = torch.optim.SGD(model.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = ((model(x, mask) - target) ** 2).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses


# %% copy_adam
# taking: Adam in place of plain gradient descent.
# price: 0.55
# truth: It uses Adam instead of plain gradient descent.
def train_to_copy(model, x, target, learning_rate, steps):
    mask = causal_mask(x.shape[1])
    opt = torch.optim.Adam(model.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = ((model(x, mask) - target) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses


# %% copy_no_mask
# taking: Mask forgotten.
# price: 0.65
# truth: The causal mask is not passed to the model.
def train_to_copy(model, x, target, learning_rate, steps):
    opt = torch.optim.SGD(model.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = ((model(x, None) - target) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses


# %% copy_rebinds
# taking: p = p - lr * grad: nothing changes.
# price: 0.5
# truth: p = p - ... makes a new tensor, so no parameter changes.
def train_to_copy(model, x, target, learning_rate, steps):
    mask = causal_mask(x.shape[1])
    losses = []
    for _ in range(steps):
        loss = ((model(x, mask) - target) ** 2).mean()
        model.zero_grad()
        loss.backward()
        for p in model.parameters():
            p = p - learning_rate * p.grad
        losses.append(loss.item())
    return losses


# %% copy_last_loss
# taking: Trains rightly, returns the last loss only.
# price: 0.75
# truth: It returns the last loss instead of the list of all.
def train_to_copy(model, x, target, learning_rate, steps):
    mask = causal_mask(x.shape[1])
    opt = torch.optim.SGD(model.parameters(), lr=learning_rate)
    for _ in range(steps):
        loss = ((model(x, mask) - target) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()
