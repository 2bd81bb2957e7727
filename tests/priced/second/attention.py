# %% loop_without_root
# taking: Softmax, order and sum are right; the division, a part of the definition, is missing.
# price: 0.75
# truth: The products are not divided by the root of D.

def attend_loop(query, key, value):
    rows = []
    for m in range(query.shape[1]):
        q = query[:, m, :].unsqueeze(1)
        scores = (q * key).sum(-1)
        w = torch.softmax(scores, dim=-1)
        rows.append((w.unsqueeze(-1) * value).sum(dim=1))
    return torch.stack(rows, dim=1)

# %% loop_softmax_over_batch
# taking: Products, root and weighted sum are right; the softmax, the heart of it, is taken along another axis.
# price: 0.65
# truth: The softmax runs over the batch instead of the keys.

def attend_loop(query, key, value):
    B, M, D = query.shape
    out = torch.empty_like(query)
    for i in range(M):
        scores = torch.einsum("bd,bnd->bn", query[:, i], key) / D ** 0.5
        weights = torch.softmax(scores, 0)
        out[:, i] = torch.einsum("bn,bnd->bd", weights, value)
    return out

# %% loop_result_in_float32
# taking: All values are right up to rounding; the dtype rule is stated in docstring and notebook.
# price: 0.85
# truth: The result is collected in a float32 tensor whatever the dtype of the inputs.

def attend_loop(query, key, value):
    B, M, D = query.shape
    N = key.shape[1]
    result = torch.zeros(B, M, D)
    for b in range(B):
        for m in range(M):
            s = torch.zeros(N)
            for n in range(N):
                s[n] = torch.dot(query[b, m], key[b, n]) / math.sqrt(D)
            a = torch.softmax(s, dim=0)
            for n in range(N):
                result[b, m] += a[n] * value[b, n]
    return result

# %% loop_scales_query_in_place
# taking: Right numbers; one of the three rules, inputs stay as they were, is broken.
# price: 0.8
# truth: The caller's query is divided in place.

def attend_loop(query, key, value):
    query /= math.sqrt(query.size(-1))
    answers = []
    for b in range(query.size(0)):
        per_query = []
        for q in query[b]:
            per_query.append(torch.softmax(key[b] @ q, dim=0) @ value[b])
        answers.append(torch.stack(per_query))
    return torch.stack(answers)

# %% loop_returns_too_early
# taking: Each line of the computation is right; a return one level too deep leaves all but the first query out.
# price: 0.6
# truth: The return stands inside the loop, so that only the first query is computed and the others are zero.

def attend_loop(query, key, value):
    out = torch.zeros_like(query)
    root = math.sqrt(query.shape[2])
    for m in range(query.shape[1]):
        logits = torch.bmm(key, query[:, m, :, None]).squeeze(2) / root
        p = torch.softmax(logits, dim=1)
        out[:, m, :] = torch.bmm(p[:, None, :], value).squeeze(1)
        return out

# %% loop_forgets_transpose
# taking: The right steps in the right order; one missing transpose makes it crash on nearly all sizes.
# price: 0.6
# truth: q @ key[b] wants key[b] transposed and raises RuntimeError unless N equals D.

def attend_loop(query, key, value):
    B, M, D = query.shape
    out = torch.zeros(B, M, D, dtype=query.dtype)
    for b in range(B):
        for m in range(M):
            q = query[b, m]
            scores = q @ key[b] / math.sqrt(D)
            weights = torch.softmax(scores, dim=0)
            out[b, m] = weights @ value[b]
    return out

# %% loop_divides_by_d_no_values
# taking: A loop with a softmax over the keys is there; the scale is wrong and the values are not used at all.
# price: 0.45
# truth: It divides by D rather than its root, and sums the keys instead of the values.

def attend_loop(query, key, value):
    B, M, D = query.shape
    res = torch.zeros_like(query)
    for b in range(B):
        for m in range(M):
            weights = torch.softmax((key[b] @ query[b, m]) / D, dim=0)
            acc = torch.zeros_like(query[b, m])
            for n in range(key.shape[1]):
                acc = acc + weights[n] * key[b, n]
            res[b, m] = acc
    return res

# %% loop_plain_mean
# taking: There is no attention in it, neither products nor a softmax; only the shape fits.
# price: 0.1
# truth: Each query gets the unweighted mean of the values.

def attend_loop(query, key, value):
    out = []
    for m in range(query.shape[1]):
        out.append(value.mean(dim=1))
    return torch.stack(out, dim=1)

# %% attend_loops_over_batch
# taking: All numbers are right; the handout takes half for a loop of any kind, and a comprehension is named.
# price: 0.5
# truth: A list comprehension goes through the batch.

def attend(query, key, value, mask=None):
    scores = torch.stack([q @ k.T for q, k in zip(query, key)]) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == False, float("-inf"))
    return torch.softmax(scores, -1) @ value

# %% attend_calls_sdpa
# taking: All numbers are right; the handout says that half is lost with this function.
# price: 0.45
# truth: It hands everything to scaled_dot_product_attention, which is forbidden.

def attend(query, key, value, mask=None):
    from torch.nn.functional import scaled_dot_product_attention

    return scaled_dot_product_attention(query, key, value, attn_mask=mask)

# %% attend_turns_the_mask_over
# taking: Vectorised and right numbers; the caller's mask is changed, against one of the three rules, and a second call would be wrong.
# price: 0.8
# truth: The mask that was given is negated in place.

def attend(query, key, value, mask=None):
    root = query.shape[-1] ** 0.5
    scores = torch.einsum("bik,bjk->bij", query, key).div(root)
    if mask is not None:
        hidden = mask.logical_not_()
        scores.masked_fill_(hidden, float("-inf"))
    weights = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return torch.einsum("bij,bjk->bik", weights, value)

# %% attend_mask_upside_down
# taking: Vectorised and right without a mask; the mask is put in at the right place, only the wrong way round.
# price: 0.75
# truth: Where the mask is True the keys are hidden instead of seen.

def attend(query, key, value, mask=None):
    d = query.shape[-1]
    scores = torch.bmm(query, key.permute(0, 2, 1)) / math.sqrt(d)
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    probs = torch.softmax(scores, dim=-1)
    return torch.bmm(probs, value)

# %% attend_mask_after_softmax
# taking: Hidden keys do have weight 0 and all without a mask is right; the weights left over no longer sum to one.
# price: 0.75
# truth: The weights are multiplied with the mask after the softmax and not normalised again.

def attend(query, key, value, mask=None):
    att = torch.einsum("bmd,bnd->bmn", query, key)
    att = (att / math.sqrt(query.size(2))).softmax(dim=2)
    if mask is not None:
        att = att * mask
    return torch.einsum("bmn,bnd->bmd", att, value)

# %% attend_mask_to_zero_scores
# taking: Vectorised and right without a mask; a score of 0 is no weight of 0, a misunderstanding of softmax.
# price: 0.7
# truth: Hidden scores are set to 0 before the softmax, so that hidden keys keep a weight.

def attend(query, key, value, mask=None):
    scale = 1 / math.sqrt(query.shape[-1])
    products = torch.matmul(query, key.transpose(-2, -1)) * scale
    if mask is not None:
        products = torch.where(mask, products, torch.zeros_like(products))
    return torch.matmul(torch.softmax(products, dim=-1), value)

# %% attend_transpose_of_two
# taking: The plan is right to the end with mask and root; one wrong transpose, and it does not run.
# price: 0.65
# truth: key.transpose(0, 1) swaps batch and keys, and the product raises RuntimeError.

def attend(query, key, value, mask=None):
    D = query.shape[2]
    scores = query @ key.transpose(0, 1) / math.sqrt(D)
    if mask is not None:
        scores[~mask.expand_as(scores)] = float("-inf")
    weights = torch.softmax(scores, dim=2)
    return weights @ value

# %% attend_mask_always_of_batch
# taking: Right without a mask and for one mask for all; the second shape that the docstring names comes out with four axes.
# price: 0.85
# truth: mask[None] is added for any mask, so that a (B, M, N) mask gives a result of shape (1, B, M, D).

def attend(query, key, value, mask=None):
    logits = (query[:, :, None, :] * key[:, None, :, :]).sum(dim=3)
    logits = logits / query.shape[2] ** 0.5
    if mask is not None:
        logits = logits.masked_fill(~mask[None], -torch.inf)
    return logits.softmax(dim=-1) @ value

# %% attend_queries_normalised
# taking: Vectorised with a proper root; softmax along the wrong axis and a mask that is not used.
# price: 0.45
# truth: The softmax runs over the queries instead of the keys, and the mask is ignored.

def attend(query, key, value, mask=None):
    scores = query @ key.mT
    scores = scores / math.sqrt(key.shape[-1])
    weights = scores.softmax(dim=1)
    return weights @ value

# %% attend_loop_and_wrong_root
# taking: Half is gone for the loops; of the other half the root of the wrong size costs a part, masks are right.
# price: 0.35
# truth: It loops over batch and queries, and divides by the root of the number of keys instead of D.

def attend(query, key, value, mask=None):
    B, M, D = query.shape
    N = key.shape[1]
    out = torch.zeros_like(query)
    for b in range(B):
        for m in range(M):
            s = key[b] @ query[b, m] / math.sqrt(N)
            if mask is not None:
                row = mask[b, m] if mask.dim() == 3 else mask[m]
                s[~row] = float("-inf")
            out[b, m] = torch.softmax(s, 0) @ value[b]
    return out

# %% causal_looks_ahead
# taking: A triangle of the right shape and dtype with the diagonal, but the wrong one of the two, and that is all the question asks.
# price: 0.45
# truth: It is the upper triangle: a place sees itself and those after it.

def causal_mask(length):
    i = torch.arange(length)
    return i[None, :] >= i[:, None]

# %% causal_without_itself
# taking: Right direction and dtype; a place does not see itself, though the docstring says it does.
# price: 0.6
# truth: The diagonal is False, so that the first place sees nothing.

def causal_mask(length):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        for j in range(i):
            mask[i, j] = True
    return mask

# %% causal_of_ones
# taking: The right entries as numbers; a mask for attend must be bool.
# price: 0.75
# truth: The entries are floats, 1 and 0, instead of bools.

def causal_mask(length):
    return torch.tril(torch.ones((length, length)))

# %% heads_root_of_dim
# taking: Everything difficult is right; the divisor is the one of the whole, against the bold word in the docstring.
# price: 0.8
# truth: The products are divided by the root of D instead of D / H.

class MultiHeadAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.dim, self.h = dim, num_heads
        self.query, self.key, self.value, self.output = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x, mask=None):
        B, N, D = x.shape
        q, k, v = (
            layer(x).reshape(B, N, self.h, -1).permute(0, 2, 1, 3)
            for layer in (self.query, self.key, self.value)
        )
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(D)
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), float("-inf"))
        out = torch.einsum("bhij,bhjd->bhid", scores.softmax(-1), v)
        return self.output(out.permute(0, 2, 1, 3).reshape(B, N, D))

# %% heads_view_scrambles
# taking: Layers, scale, mask and output are right; the cut into heads, the new thing here, mixes places and numbers.
# price: 0.6
# truth: view(B, H, N, D / H) is used without a transpose, so that a head gets pieces of other places.

class MultiHeadAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = dim // num_heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.output = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        B, N, D = x.shape
        q = self.query(x).view(B, self.num_heads, N, self.head_dim)
        k = self.key(x).view(B, self.num_heads, N, self.head_dim)
        v = self.value(x).view(B, self.num_heads, N, self.head_dim)
        att = q @ k.transpose(2, 3) / math.sqrt(self.head_dim)
        if mask is not None:
            att = att.masked_fill(~mask, float("-inf"))
        y = torch.softmax(att, dim=-1) @ v
        return self.output(y.reshape(B, N, D))

# %% heads_view_not_contiguous
# taking: A right solution but for view in place of reshape; it crashes, yet the message tells how to mend it.
# price: 0.75
# truth: view after transpose raises RuntimeError because the tensor is not contiguous.

class MultiHeadAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.output = nn.Linear(dim, dim)

    def split(self, t):
        B, N, D = t.shape
        return t.view(B, N, self.num_heads, D // self.num_heads).transpose(1, 2)

    def forward(self, x, mask=None):
        B, N, D = x.shape
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = (q @ k.transpose(-1, -2)) / math.sqrt(D // self.num_heads)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        context = scores.softmax(dim=-1) @ v
        return self.output(context.transpose(1, 2).view(B, N, D))

# %% heads_no_output_no_mask
# taking: Heads are cut, scaled and put together right; the last layer is made but not used, and the mask is ignored.
# price: 0.55
# truth: forward neither passes the result through output nor uses the mask.

class MultiHeadAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.H = num_heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.output = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        heads = []
        Q = self.query(x).chunk(self.H, dim=-1)
        K = self.key(x).chunk(self.H, dim=-1)
        V = self.value(x).chunk(self.H, dim=-1)
        for q, k, v in zip(Q, K, V):
            heads.append(attend(q, k, v))
        return torch.cat(heads, dim=-1)

# %% heads_only_one
# taking: Layers, mask and output are right, but that there are several heads is the whole point, and there is one.
# price: 0.4
# truth: Nothing is cut: one attention over all D numbers, whatever num_heads is.

class MultiHeadAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        assert dim % num_heads == 0
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.output = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        z = attend(self.query(x), self.key(x), self.value(x), mask)
        return self.output(z)

# %% heads_lose_gradients
# taking: All values are right; with .data nothing but the output layer could ever be trained.
# price: 0.7
# truth: The projections are taken with .data, so that no gradient reaches query, key and value.

class MultiHeadAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.heads = num_heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.output = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        d = x.shape[-1] // self.heads
        q, k, v = self.query(x).data, self.key(x).data, self.value(x).data
        out = torch.zeros_like(v)
        for h in range(self.heads):
            s = slice(h * d, (h + 1) * d)
            out[:, :, s] = attend(q[:, :, s], k[:, :, s], v[:, :, s], mask)
        return self.output(out)

# %% heads_without_attention
# taking: Only the four layers are made; nothing of attention, heads or mask is there.
# price: 0.15
# truth: forward passes x through value and output alone, so that no place looks at another.

class MultiHeadAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.output = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        # TODO heads
        v = self.value(x)
        return self.output(v)

# %% block_norm_after
# taking: A right block of the first transformer's kind, but the docstring gives the formula, and this is another.
# price: 0.6
# truth: The norms are applied after each addition instead of before attention and layers.

class Block(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.attention = MultiHeadAttention(dim, num_heads)
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.wide = nn.Linear(dim, dim * 4)
        self.narrow = nn.Linear(dim * 4, dim)

    def forward(self, x, mask=None):
        x = self.norm1(x + self.attention(x, mask))
        hidden = torch.relu(self.wide(x))
        return self.norm2(x + self.narrow(hidden))

# %% block_drops_mask
# taking: The formula is right throughout; one argument is not passed on, and places see what they must not.
# price: 0.75
# truth: The mask is not passed on to attention.

class Block(nn.Module):
    def forward(self, x, mask=None):
        h = self.norm1(x)
        h = self.attention(h)
        y = x + h
        h = self.norm2(y)
        h = self.narrow(self.wide(h).clamp(min=0))
        return y + h

# %% block_wide_and_narrow_swapped
# taking: forward is fully right; two sizes are exchanged in the layers, and it crashes.
# price: 0.7
# truth: wide is Linear(4 * dim, dim) and narrow Linear(dim, 4 * dim), which raises RuntimeError in forward.

class Block(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.attention = MultiHeadAttention(dim, num_heads)
        self.wide = nn.Linear(4 * dim, dim)
        self.narrow = nn.Linear(dim, 4 * dim)

    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask)
        z = torch.relu(self.wide(self.norm2(y)))
        return y + self.narrow(z)

# %% block_adds_x_without_relu
# taking: Attention half and all layers are right; in the second half what is added and the ReLU are both wrong.
# price: 0.6
# truth: The second sum adds x instead of y, and there is no ReLU between wide and narrow.

class Block(nn.Module):
    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask=mask)
        mlp = self.narrow(self.wide(self.norm2(y)))
        return x + mlp

# %% copy_unclean_gradients
# taking: Loss, mask, update and returned losses are right; gradients pile up, a central mistake of any loop.
# price: 0.65
# truth: The gradients are never set to zero.

def train_to_copy(model, x, target, learning_rate, steps):
    mask = causal_mask(x.size(1))
    losses = []
    for step in range(steps):
        prediction = model(x, mask)
        loss = ((prediction - target) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for param in model.parameters():
                param.sub_(learning_rate * param.grad)
        losses.append(loss.item())
    return losses

# %% copy_update_outside_no_grad
# taking: All by hand and in the right order; without no_grad the first update crashes, one line is missing.
# price: 0.65
# truth: Parameters are changed in place without no_grad, which raises RuntimeError.

def train_to_copy(model, x, target, learning_rate, steps):
    mask = causal_mask(x.shape[1])
    history = []
    for _ in range(steps):
        model.zero_grad()
        loss = nn.functional.mse_loss(model(x, mask), target)
        history.append(float(loss))
        loss.backward()
        for p in model.parameters():
            p -= learning_rate * p.grad
    return history

# %% copy_adam_sum_of_squares
# taking: The loop and the mask are right; neither the loss nor the way of descent is what is described.
# price: 0.5
# truth: It uses Adam instead of plain gradient descent, and the sum of the squares instead of their mean.

def train_to_copy(model, x, target, learning_rate, steps):
    opt = torch.optim.Adam(model.parameters(), lr=learning_rate)
    criterion = nn.MSELoss(reduction="sum")
    n = x.shape[1]
    losses = []
    for i in range(steps):
        opt.zero_grad()
        loss = criterion(model(x, causal_mask(n)), target)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses
