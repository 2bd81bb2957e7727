# %% loader_shuffle_forgotten
# taking: Pairs and sizes are right; the parameter shuffle is accepted but not handed on, so the order never changes.
# price: 0.85
# truth: shuffle is not passed to the DataLoader.

def make_loader(X, y, batch_size, shuffle):
    dataset = TensorDataset(X, y)
    loader = DataLoader(dataset, batch_size)
    return loader

# %% loader_drop_last_always_shuffles
# taking: Two slips: shuffles always and throws away the last batch; pairing and sizes of the others are right.
# price: 0.45
# truth: shuffle=True whatever was asked, and drop_last=True loses the rest of the rows.

def make_loader(X, y, batch_size, shuffle):
    ds = TensorDataset(X, y)
    return DataLoader(ds, batch_size=batch_size, shuffle=True, drop_last=True)

# %% loader_shuffles_x_alone
# taking: Loader options are right, but the rows of X are permuted beforehand without the labels, so pairs no longer belong together.
# price: 0.5
# truth: With shuffle the rows of X are permuted without y, so labels belong to other rows, and the order is the same in each epoch.

def make_loader(X, y, batch_size, shuffle):
    if shuffle:
        perm = torch.randperm(len(X))
        X = X[perm]
    return DataLoader(TensorDataset(X, y), batch_size=batch_size, shuffle=False)

# %% dataset_not_scaled
# taking: Files, length, labels and IndexError right; brightness was left at 0 to 255 though the docstring says 0 to 1.
# price: 0.65
# truth: Images are not divided by 255.

class DigitDataset(Dataset):
    def __getitem__(self, index):
        path = self.files[index]
        img = np.load(path).astype(np.float32)
        label = torch.zeros(1)
        if path.parent.name == "7":
            label[0] = 1
        return torch.from_numpy(img).flatten(), label

# %% dataset_int_label_and_shape
# taking: Reads lazily and scales; the image stays 28 by 28 and the label is a plain int (3 or 7) rather than 0 or 1 in a tensor.
# price: 0.4
# truth: Images have shape (28, 28), and labels are the ints 3 and 7 instead of float tensors of 0 and 1.

class DigitDataset(Dataset):
    def __init__(self, root):
        self.paths = []
        for digit in (3, 7):
            folder = Path(root) / str(digit)
            for p in sorted(folder.iterdir()):
                self.paths.append((p, digit))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        p, digit = self.paths[index]
        arr = np.load(p)
        return torch.tensor(arr, dtype=torch.float32) / 255, digit

# %% dataset_wraps_around
# taking: Images and labels are fine; an index beyond the end begins again instead of raising, so a for loop never ends.
# price: 0.83
# truth: index % len(self) never raises IndexError.

class DigitDataset(Dataset):
    def __getitem__(self, index):
        name = str(self.files[index % len(self.files)])
        pixels = torch.tensor(np.load(name), dtype=torch.float32).view(784) / 255.0
        is_three = os.path.basename(os.path.dirname(name)) == "3"
        return pixels, torch.tensor([float(is_three)])

# %% net_with_sigmoid
# taking: The layers and their sizes are right; a sigmoid at the end, which the text rules out.
# price: 0.6
# truth: Ends with a Sigmoid.

def build_net():
    layers = []
    layers.append(torch.nn.Linear(784, 30))
    layers.append(torch.nn.ReLU())
    layers.append(torch.nn.Linear(30, 1))
    layers.append(torch.nn.Sigmoid())
    return torch.nn.Sequential(*layers)

# %% train_minibatch_no_zero_grad
# taking: Complete loop with modes, device and weighted mean; forgets that gradients add up, so training is wrong from the second step on.
# price: 0.55
# truth: Gradients are never set to zero.

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    mode = net.training
    net.to(device)
    net.train()
    history = []
    for epoch in range(epochs):
        running, n = 0.0, 0
        for xx, yy in loader:
            xx = xx.to(device)
            yy = yy.to(device)
            pred = net(xx)
            loss = loss_fn(pred, yy)
            loss.backward()
            optimizer.step()
            running += loss.item() * xx.shape[0]
            n += xx.shape[0]
        history.append(running / n)
    net.train(mode)
    return history

# %% train_minibatch_mean_of_batches
# taking: Training itself is right; the mean counts each batch the same, which the handout warns of; the rest of the losses is fine.
# price: 0.85
# truth: Averages over batches instead of rows.

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    before = net.training
    net.train()
    net.to(device)
    result = []
    for _ in range(epochs):
        batch_losses = []
        for xx, yy in loader:
            optimizer.zero_grad()
            loss = loss_fn(net(xx.to(device)), yy.to(device))
            loss.backward()
            optimizer.step()
            batch_losses.append(loss.item())
        result.append(sum(batch_losses) / len(batch_losses))
    net.train(before)
    return result

# %% train_minibatch_step_per_epoch
# taking: Loop and mean are there, but the step is indented one level too little: one step per epoch, and not a mini-batch training.
# price: 0.4
# truth: optimizer.step() and zero_grad() are once per epoch, after all batches; the mode is not put back either.

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    net = net.to(device)
    net.train()
    losses = []
    for epoch in range(epochs):
        total = 0
        count = 0
        optimizer.zero_grad()
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            loss.backward()
            total += loss.item() * len(yy)
            count += len(yy)
        optimizer.step()
        losses.append(total / count)
    return losses

# %% predict_last_batch
# taking: Sigmoid, eval mode and no_grad are right, mode put back; only the last batch is returned, the classic that the handout names.
# price: 0.55
# truth: Overwrites the result in each turn and returns only the last batch.

def predict(net, X, batch_size):
    training = net.training
    net.eval()
    with torch.no_grad():
        for start in range(0, len(X), batch_size):
            batch = X[start:start + batch_size]
            probs = torch.sigmoid(net(batch))
    net.train(training)
    return probs

# %% predict_no_sigmoid_train_mode
# taking: Batches are put together well and without gradients; but it returns scores, and the net stays in whatever mode it had.
# price: 0.45
# truth: Returns the net's outputs without a sigmoid, and does not switch to eval mode.

def predict(net, X, batch_size):
    outs = []
    i = 0
    while i < len(X):
        with torch.no_grad():
            outs.append(net(X[i:i + batch_size]))
        i += batch_size
    return torch.cat(outs, dim=0)

# %% full_batch_zero_between
# taking: The structure is there, but zero_grad stands between backward and step, so no step does anything. Losses are all alike.
# price: 0.4
# truth: Gradients are set to zero before the step, so the weights never change.

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    losses = []
    for i in range(epochs):
        y_hat = net(X)
        loss = loss_fn(y_hat, y)
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
        losses.append(loss.item())
    return losses

# %% checkpoint_without_optimizer
# taking: Atomic and with the right names, but the state of the optimiser, which the handout prints in bold, is saved of the net twice over.
# price: 0.55
# truth: Saves the state of the net, not of the optimiser, under optimizer_state_dict.

def save_checkpoint(path, net, optimizer, epoch, loss):
    path = Path(path)
    tmp = path.with_suffix(".tmp")
    weights = net.state_dict()
    torch.save(
        {"epoch": epoch, "loss": loss, "model_state_dict": weights, "optimizer_state_dict": weights},
        tmp,
    )
    tmp.replace(path)

# %% checkpoint_removed_first
# taking: All contents right, but removes the old file before the new one is written: exactly the loss that was to be avoided.
# price: 0.8
# truth: Deletes the old file and then writes directly to its name.

def save_checkpoint(path, net, optimizer, epoch, loss):
    if os.path.exists(path):
        os.remove(path)
    checkpoint = {}
    checkpoint["model_state_dict"] = net.state_dict()
    checkpoint["optimizer_state_dict"] = optimizer.state_dict()
    checkpoint["epoch"] = epoch
    checkpoint["loss"] = loss
    torch.save(checkpoint, path)

# %% load_checkpoint_net_only
# taking: Safe loading, net restored, order of the pair right; the optimiser is forgotten, so training does not go on as before.
# price: 0.65
# truth: Does not load the optimiser's state.

def load_checkpoint(path, net, optimizer):
    ckpt = torch.load(str(path), map_location="cpu", weights_only=True)
    net.load_state_dict(ckpt["model_state_dict"])
    epoch = ckpt["epoch"]
    loss = ckpt["loss"]
    return epoch, loss

# %% early_stopping_no_copy_total_wait
# taking: Two slips: the weights are kept by reference, and the count of epochs without gain is not reset; min_delta and NaN are right.
# price: 0.4
# truth: state_dict is not copied, so restore brings back nothing, and the counter is never set back to 0.

class EarlyStopping:
    def step(self, loss, net):
        if loss != loss:
            return True
        if self.best_loss - loss > self.min_delta:
            self.best_loss = loss
            self.best_state = net.state_dict()
        else:
            self.waited = self.waited + 1
        return self.waited >= self.patience

# %% early_stopping_nan_and_patience_off
# taking: Copying and improvement are right; patience is one too long through > and a NaN just counts as no gain.
# price: 0.55
# truth: Stops one epoch late (>), and a NaN does not stop at once.

class EarlyStopping:
    def step(self, loss, net):
        improved = loss < self.best_loss - self.min_delta
        if improved:
            self.best_loss = loss
            self.best_state = {k: v.clone() for k, v in net.state_dict().items()}
            self.waited = 0
            return False
        self.waited += 1
        if self.waited > self.patience:
            return True
        return False

# %% freeze_flags_only
# taking: Flags and the list are right; eval mode of the backbone is missing, and the handout says that flags are half of it.
# price: 0.7
# truth: Leaves the modes as they are, so BatchNorm of the backbone moves its statistics.

def freeze_backbone(model, head):
    for p in model.parameters():
        p.requires_grad = False
    trainable = []
    for p in head.parameters():
        p.requires_grad = True
        trainable.append(p)
    return trainable

# %% log_training_closed_one_based
# taking: Values are logged under their tags; epochs begin at 1 instead of 0, and the writer is closed though it is to stay open.
# price: 0.5
# truth: Steps begin at 1, and the writer is closed.

def log_training(writer, history):
    for tag in history:
        step = 0
        for number in history[tag]:
            step += 1
            writer.add_scalar(tag, number, global_step=step)
    writer.close()

# %% search_greatest_loss
# taking: Drawing is right, seeded and logarithmic; it keeps the greatest loss as if it were an accuracy.
# price: 0.6
# truth: Takes the configuration with the greatest loss instead of the least.

def search(config_space, train_fn, num_samples, seed=0):
    rng = random.Random(seed)
    best_config, best_score = None, -float("inf")
    for _ in range(num_samples):
        config = {}
        for key, space in config_space.items():
            if isinstance(space, list):
                config[key] = rng.choice(space)
            else:
                low, high = space
                config[key] = 10 ** rng.uniform(math.log10(low), math.log10(high))
        score = train_fn(config)
        if score > best_score:
            best_config, best_score = config, score
    return best_config, best_score

# %% best_trial_last_report
# taking: Files and config right, NaN skipped; looks at the last report of each trial only, where any report counts.
# price: 0.4
# truth: Considers only the last line of each result.json.

def best_trial(folder, metric):
    best = None
    for trial in sorted(Path(folder).iterdir()):
        result_file = trial / "result.json"
        if not result_file.exists():
            continue
        lines = result_file.read_text().strip().split("\n")
        value = json.loads(lines[-1])[metric]
        if math.isnan(value):
            continue
        if best is None or value < best[1]:
            with open(trial / "params.json") as f:
                best = (json.load(f), value)
    return best


