# %% loop_no_scaling
# taking: Both loops, softmax over the keys and weighted sum are right; the division by the root of D is forgotten, so every number is off.
# price: 0.65
# truth: Products are not divided by sqrt(D).

def attend_loop(query, key, value):
    B, M, D = query.shape
    out = torch.zeros(B, M, D, dtype=query.dtype)
    for b in range(B):
        for m in range(M):
            q = query[b, m]
            scores = torch.mv(key[b], q)
            w = torch.softmax(scores, dim=0)
            out[b, m] = w @ value[b]
    return out

# %% loop_scale_by_keys
# taking: All steps there, but the root is that of the number of keys rather than of the vector's length; a mix-up of two sizes.
# price: 0.65
# truth: Divides by the root of N, not of D.

def attend_loop(query, key, value):
    answer = []
    for q_mat, k_mat, v_mat in zip(query, key, value):
        rows = []
        for q in q_mat:
            s = (k_mat * q).sum(dim=1) / math.sqrt(k_mat.shape[0])
            p = torch.softmax(s, dim=0)
            rows.append((p[:, None] * v_mat).sum(dim=0))
        answer.append(torch.stack(rows))
    return torch.stack(answer)

# %% loop_own_softmax_float32
# taking: Attention is right; own exp overflows for large products, and the result is float32 whatever comes in: two smaller slips.
# price: 0.75
# truth: exp without a shift gives nan for large products, and torch.zeros makes float32.

def attend_loop(query, key, value):
    result = torch.zeros(query.shape)
    d = query.shape[-1]
    for b in range(query.shape[0]):
        for i in range(query.shape[1]):
            e = torch.zeros(key.shape[1])
            for j in range(key.shape[1]):
                e[j] = torch.exp(torch.dot(query[b, i], key[b, j]) / d ** 0.5)
            e = e / e.sum()
            for j in range(key.shape[1]):
                result[b, i] += e[j] * value[b, j]
    return result

# %% loop_mean_of_first_batch
# taking: Right for a single sequence, but the keys and values of sequence 0 are used for all: an index forgotten.
# price: 0.45
# truth: Uses key[0] and value[0] for every sequence of the batch.

def attend_loop(query, key, value):
    batch, m, d = query.shape
    res = query.new_zeros(batch, m, d)
    for b in range(batch):
        for i in range(m):
            logits = key[0] @ query[b, i]
            logits = logits / (d ** 0.5)
            weights = logits.softmax(-1)
            res[b, i] = weights @ value[0]
    return res

# %% attend_softmax_over_queries
# taking: No loop, scaled and masked; but the softmax runs over the queries: every weight is wrong. The loop rule keeps its half.
# price: 0.62
# truth: softmax over dim 1 (queries) instead of over the keys.

def attend(query, key, value, mask=None):
    d = query.shape[-1]
    scores = torch.bmm(query, key.transpose(1, 2)) / d ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == False, float("-inf"))
    weights = torch.softmax(scores, dim=1)
    return torch.bmm(weights, value)

# %% attend_mask_inverted
# taking: Without mask all is right; with one it hides just what may be seen. The mask is a smaller part.
# price: 0.83
# truth: Fills where the mask is True instead of where it is False.

def attend(query, key, value, mask=None):
    D = query.shape[2]
    att = torch.einsum("bmd,bnd->bmn", query, key) / math.sqrt(D)
    if mask is not None:
        att = att.masked_fill(mask, -1e9)
    att = torch.softmax(att, -1)
    return torch.einsum("bmn,bnd->bmd", att, value)

# %% attend_mask_after_softmax
# taking: No loop and right without a mask; the mask is multiplied after the softmax and not normalised again, so rows sum to less than 1.
# price: 0.85
# truth: The weights are set to zero after the softmax, without normalising again.

def attend(query, key, value, mask=None):
    scores = query @ key.permute(0, 2, 1)
    scores = scores / math.sqrt(query.shape[-1])
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask.to(weights.dtype)
    return weights @ value

# %% attend_mask_zero_product
# taking: Two slips: masked products are set to 0, whose exp is 1, and the scaling is forgotten; no loop, softmax over the keys right.
# price: 0.6
# truth: Masked products become 0 instead of minus infinity, and no division by sqrt(D).

def attend(query, key, value, mask=None):
    products = torch.matmul(query, key.transpose(-1, -2))
    if mask is not None:
        products = products * mask
    probs = torch.nn.functional.softmax(products, dim=-1)
    out = torch.matmul(probs, value)
    return out

# %% attend_scaled_dot_product
# taking: Works, but is just the one function named as not allowed; half is lost by the text, and own work is none.
# price: 0.4
# truth: Calls scaled_dot_product_attention.

def attend(query, key, value, mask=None):
    return nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)

# %% attend_loop_over_batch
# taking: Right in all numbers and masks, but with a loop over the sequences, so the half for no loops is lost.
# price: 0.5
# truth: Loops over the batch.

def attend(query, key, value, mask=None):
    outputs = []
    for b in range(query.shape[0]):
        s = query[b] @ key[b].t() / math.sqrt(query.shape[2])
        if mask is not None:
            m = mask if mask.dim() == 2 else mask[b]
            s = s.masked_fill(~m, float("-inf"))
        outputs.append(torch.softmax(s, dim=1) @ value[b])
    return torch.stack(outputs)

# %% attend_plain_transpose
# taking: Good plan without loops, but key.t() knows only matrices, so it raises on any batch; close to right on paper.
# price: 0.6
# truth: key.t() raises for a tensor of rank 3.

def attend(query, key, value, mask=None):
    dim = key.size(-1)
    scores = query.matmul(key.t()) / math.sqrt(dim)
    if mask is not None:
        scores[~mask] = float("-inf")
    return torch.softmax(scores, dim=-1).matmul(value)

# %% causal_upper
# taking: Bool and square, but looks into the future instead of the past: the opposite of what is wanted.
# price: 0.35
# truth: Upper triangle instead of lower.

def causal_mask(length):
    mask = torch.ones(length, length)
    mask = torch.triu(mask)
    return mask.bool()

# %% causal_without_itself
# taking: Lower triangle and bool, but a place may not look at itself, so the first row sees nothing; off by one.
# price: 0.5
# truth: Strictly below the diagonal: < instead of <=.

def causal_mask(length):
    place = torch.arange(length)
    return place.unsqueeze(0) < place.unsqueeze(1)

# %% heads_view_without_transpose
# taking: Layers right and attend reused; the cut is a plain view, which mixes places with heads. The hard part of the question is wrong.
# price: 0.4
# truth: view(B * H, N, D / H) without a transpose, so places and heads are mixed.

class MultiHeadAttention(nn.Module):
    def forward(self, x, mask=None):
        B, N, D = x.shape
        H = self.num_heads
        q = self.query(x).view(B * H, N, D // H)
        k = self.key(x).view(B * H, N, D // H)
        v = self.value(x).view(B * H, N, D // H)
        out = attend(q, k, v, mask)
        out = out.view(B, N, D)
        return self.output(out)

# %% heads_output_forgotten
# taking: Heads cut, attended and joined in order; only the last layer output is not applied, so numbers and its gradient are missing.
# price: 0.55
# truth: The output layer is never used.

class MultiHeadAttention(nn.Module):
    def forward(self, x, mask=None):
        D = x.shape[2]
        size = D // self.num_heads
        q, k, v = self.query(x), self.key(x), self.value(x)
        results = []
        for h in range(self.num_heads):
            part = slice(h * size, (h + 1) * size)
            results.append(attend(q[:, :, part], k[:, :, part], v[:, :, part], mask))
        return torch.cat(results, dim=2)

# %% heads_scale_full_mask_dropped
# taking: The cut and the join are right; scores are divided by the root of D rather than of its share, and the mask is not used: two slips.
# price: 0.4
# truth: Scales by sqrt(D) instead of sqrt(D / H), and ignores the mask.

class MultiHeadAttention(nn.Module):
    def forward(self, x, mask=None):
        b, n, d = x.shape
        h = self.num_heads
        q = self.query(x).reshape(b, n, h, d // h).permute(0, 2, 1, 3)
        k = self.key(x).reshape(b, n, h, d // h).permute(0, 2, 1, 3)
        v = self.value(x).reshape(b, n, h, d // h).permute(0, 2, 1, 3)
        att = torch.softmax(q @ k.transpose(2, 3) / d ** 0.5, dim=3)
        y = (att @ v).permute(0, 2, 1, 3).reshape(b, n, d)
        return self.output(y)

# %% heads_single
# taking: Half-finished: one attention over all numbers, heads are ignored; layers and mask are right, but several heads is the question.
# price: 0.35
# truth: Only one head over the whole width; num_heads is not used.

class MultiHeadAttention(nn.Module):
    def forward(self, x, mask=None):
        q = self.query(x)
        k = self.key(x)
        v = self.value(x)
        seen = attend(q, k, v, mask)
        return self.output(seen)

# %% block_post_norm
# taking: All parts and both sums are there, but the norms come after the sums, as in the first paper; the docstring's formula says before.
# price: 0.45
# truth: Normalises after adding instead of before attention and the wide layer.

class Block(nn.Module):
    def forward(self, x, mask=None):
        x = self.norm1(x + self.attention(x, mask))
        h = torch.relu(self.wide(x))
        x = self.norm2(x + self.narrow(h))
        return x

# %% block_adds_x_mask_lost
# taking: Layers right, first half right but for the mask; in the second, x is added instead of y, so attention reaches the end only through the MLP.
# price: 0.4
# truth: The second sum adds x instead of y, and mask is not passed on.

class Block(nn.Module):
    def forward(self, x, mask=None):
        y = self.attention(self.norm1(x)) + x
        z = self.norm2(y)
        z = self.wide(z)
        z = z.relu()
        z = self.narrow(z)
        return x + z

# %% train_no_zero_grad
# taking: Mask, loss, SGD and the list of floats are right; gradients pile up, so only the first step is right.
# price: 0.5
# truth: Gradients are never set to zero.

def train_to_copy(model, x, target, learning_rate, steps):
    mask = causal_mask(x.shape[1])
    opt = torch.optim.SGD(model.parameters(), lr=learning_rate)
    criterion = nn.MSELoss()
    history = []
    for step in range(steps):
        pred = model(x, mask)
        loss = criterion(pred, target)
        history.append(loss.item())
        loss.backward()
        opt.step()
    return history

# %% train_sum_loss_no_mask
# taking: Loop, zero_grad and floats are right; the model gets no mask, and the squares are summed instead of averaged: two slips that change all numbers.
# price: 0.35
# truth: Calls the model without the causal mask, and takes the sum instead of the mean.

def train_to_copy(model, x, target, learning_rate, steps):
    sgd = torch.optim.SGD(model.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        sgd.zero_grad()
        out = model(x)
        loss = ((out - target) ** 2).sum()
        loss.backward()
        sgd.step()
        losses.append(loss.item())
    return losses

# %% train_with_adam
# taking: Mask, mean and order of the steps are right; Adam instead of the plain descent asked for, so the weights differ after one step.
# price: 0.5
# truth: Uses Adam instead of plain gradient descent.

def train_to_copy(model, x, target, learning_rate, steps):
    n = x.size(1)
    mask = causal_mask(n)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    loss_fn = nn.MSELoss()
    out = []
    for i in range(steps):
        optimizer.zero_grad()
        prediction = model(x, mask)
        loss = loss_fn(prediction, target)
        out.append(float(loss.detach()))
        loss.backward()
        optimizer.step()
    return out
