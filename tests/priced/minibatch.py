"""Wrong answers to minibatch, each with the share of its question's points that a good TA would give."""


# %% loader_never_shuffles
# taking: shuffle is ignored.
# price: 0.7
# truth: shuffle is ignored, so the rows come in the same order in each epoch.
def make_loader(X, y, batch_size, shuffle):
    return DataLoader(TensorDataset(X, y), batch_size=batch_size)


# %% loader_always_shuffles
# taking: Always shuffles.
# price: 0.7
# truth: It shuffles also when shuffle is False.
def make_loader(X, y, batch_size, shuffle):
    return DataLoader(TensorDataset(X, y), batch_size=batch_size, shuffle=True)


# %% loader_drops_last
# taking: Last batch dropped.
# price: 0.7
# truth: drop_last leaves out the last, smaller batch.
def make_loader(X, y, batch_size, shuffle):
    return DataLoader(TensorDataset(X, y), batch_size=batch_size, shuffle=shuffle, drop_last=True)


# %% loader_no_labels
# taking: Labels are missing.
# price: 0.4
# truth: The labels are missing: batches hold X alone.
def make_loader(X, y, batch_size, shuffle):
    return DataLoader(TensorDataset(X), batch_size=batch_size, shuffle=shuffle)


# %% digits_no_division
# taking: Brightness from 0 to 255; otherwise right.
# price: 0.8
# truth: The brightnesses are not divided by 255.
class DigitDataset(Dataset):
    def __getitem__(self, index):
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).float().reshape(-1)
        return image, torch.tensor([1.0 if file.parent.name == "3" else 0.0])


# %% digits_not_flat
# taking: (28, 28) in place of (784,).
# price: 0.8
# truth: The images have shape (28, 28) instead of (784,).
class DigitDataset(Dataset):
    def __getitem__(self, index):
        file = self.files[index]
        image = torch.from_numpy(np.load(file)) / 255
        return image, torch.tensor([1.0 if file.parent.name == "3" else 0.0])


# %% digits_label_int
# taking: Label is a Python int of no shape.
# price: 0.8
# truth: The label is an int instead of a float32 tensor of shape (1,).
class DigitDataset(Dataset):
    def __getitem__(self, index):
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).reshape(-1) / 255
        return image, int(file.parent.name == "3")


# %% digits_only_threes
# taking: One of two folders.
# price: 0.5
# truth: Only the folder 3 is read.
class DigitDataset(Dataset):
    def __init__(self, root):
        self.files = sorted((Path(root) / "3").glob("*.npy"))


# %% digits_label_file_name
# taking: Label by the file's name, not its folder.
# price: 0.6
# truth: The label is taken from the file's name instead of its folder, so all are 0.
class DigitDataset(Dataset):
    def __getitem__(self, index):
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).reshape(-1) / 255
        return image, torch.tensor([1.0 if file.name == "3" else 0.0])


# %% net_sigmoid
# taking: Sigmoid at the end, which is said not to be there.
# price: 0.65
# truth: There is a sigmoid at the end.
def build_net():
    return torch.nn.Sequential(
        torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1), torch.nn.Sigmoid()
    )


# %% net_no_relu
# taking: ReLU missing.
# price: 0.65
# truth: The ReLU is missing.
def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.Linear(30, 1))


# %% net_no_bias
# taking: Biases off.
# price: 0.65
# truth: The layers have no bias.
def build_net():
    return torch.nn.Sequential(
        torch.nn.Linear(784, 30, bias=False), torch.nn.ReLU(), torch.nn.Linear(30, 1, bias=False)
    )


# %% net_size
# taking: Wrong hidden size.
# price: 0.6
# truth: The hidden layer has 10 numbers instead of 30.
def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 10), torch.nn.ReLU(), torch.nn.Linear(10, 1))


# %% train_no_zero_grad
# taking: zero_grad forgotten.
# price: 0.6
# truth: The gradients are never set to zero.
def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total, n = 0.0, 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            n += len(xx)
        losses.append(total / n)
    net.train(was)
    return losses


# %% train_mean_of_batches
# taking: Mean over batches, which the docstring warns about.
# price: 0.85
# truth: The losses are averaged over the batches instead of the rows.
def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            optimizer.zero_grad()
            loss = loss_fn(net(xx), yy)
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total / len(loader))
    net.train(was)
    return losses


# %% train_one_step_an_epoch
# taking: step() is outside of the inner loop.
# price: 0.5
# truth: It makes one step an epoch instead of one a batch.
def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total, n = 0.0, 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            optimizer.zero_grad()
            loss = loss_fn(net(xx), yy)
            loss.backward()
            total += loss.item() * len(xx)
            n += len(xx)
        optimizer.step()
        losses.append(total / n)
    net.train(was)
    return losses


# %% train_eval_mode
# taking: No net.train(): stays as it came.
# price: 0.85
# truth: net.train() is missing, so it trains in the mode in which it came.
def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    net.to(device)
    losses = []
    for _ in range(epochs):
        total, n = 0.0, 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            optimizer.zero_grad()
            loss = loss_fn(net(xx), yy)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            n += len(xx)
        losses.append(total / n)
    return losses


# %% train_mode_left
# taking: Leaves the net in train mode.
# price: 0.92
# truth: The net is left in train mode instead of the mode in which it came.
def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total, n = 0.0, 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            optimizer.zero_grad()
            loss = loss_fn(net(xx), yy)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            n += len(xx)
        losses.append(total / n)
    return losses


# %% train_returns_inside
# taking: Returns after the first epoch.
# price: 0.5
# truth: return stands inside the loop, so only one epoch is trained.
def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total, n = 0.0, 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            optimizer.zero_grad()
            loss = loss_fn(net(xx), yy)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            n += len(xx)
        losses.append(total / n)
        net.train(was)
        return losses


# %% predict_no_sigmoid
# taking: Sigmoid forgotten.
# price: 0.65
# truth: The sigmoid is missing: it returns the net's raw output.
def predict(net, X, batch_size):
    was = net.training
    net.eval()
    with torch.no_grad():
        out = torch.cat([net(xx) for xx in X.split(batch_size)])
    net.train(was)
    return out


# %% predict_no_eval
# taking: eval forgotten.
# price: 0.75
# truth: net.eval() is missing, so it predicts in the mode in which it came.
def predict(net, X, batch_size):
    with torch.no_grad():
        return torch.cat([torch.sigmoid(net(xx)) for xx in X.split(batch_size)])


# %% predict_all_at_once
# taking: Not in batches.
# price: 0.8
# truth: The net gets all rows at once instead of batch_size at most.
def predict(net, X, batch_size):
    was = net.training
    net.eval()
    with torch.no_grad():
        out = torch.sigmoid(net(X))
    net.train(was)
    return out


# %% predict_last_batch_missing
# taking: Integer division drops the last rows.
# price: 0.7
# truth: The rows of the last, smaller batch are missing.
def predict(net, X, batch_size):
    was = net.training
    net.eval()
    parts = [X[:0, :1]]
    with torch.no_grad():
        for i in range(len(X) // batch_size):
            parts.append(torch.sigmoid(net(X[i * batch_size:(i + 1) * batch_size])))
    net.train(was)
    return torch.cat(parts)


# %% predict_gradients
# taking: no_grad forgotten.
# price: 0.85
# truth: Gradients are recorded: no_grad is missing.
def predict(net, X, batch_size):
    was = net.training
    net.eval()
    out = torch.cat([torch.sigmoid(net(xx)) for xx in X.split(batch_size)])
    net.train(was)
    return out


# %% predict_classes
# taking: Rounds to classes.
# price: 0.65
# truth: It returns classes 0 and 1 instead of probabilities.
def predict(net, X, batch_size):
    was = net.training
    net.eval()
    with torch.no_grad():
        out = torch.cat([(torch.sigmoid(net(xx)) > 0.5).float() for xx in X.split(batch_size)])
    net.train(was)
    return out


# %% full_no_zero
# taking: zero_grad forgotten.
# price: 0.6
# truth: The gradients are never set to zero.
def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    losses = []
    for _ in range(epochs):
        loss = loss_fn(net(X), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% full_after
# taking: Losses noted after the step.
# price: 0.8
# truth: It notes the loss after each step instead of the one the step was made from.
def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = loss_fn(net(X), y)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            losses.append(loss_fn(net(X), y).item())
    return losses


# %% full_tensors
# taking: Losses as tensors.
# price: 0.88
# truth: The losses are tensors and not floats.
def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = loss_fn(net(X), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


# %% save_no_optimizer
# taking: The optimiser's state is missing.
# price: 0.6
# truth: The optimiser's state is not saved.
def save_checkpoint(path, net, optimizer, epoch, loss):
    torch.save({"epoch": epoch, "model_state_dict": net.state_dict(), "loss": loss}, f"{path}.tmp")
    os.replace(f"{path}.tmp", path)


# %% save_not_atomic
# taking: Writes over the old file.
# price: 0.8
# truth: It writes over the older file, which is lost if saving fails half-way.
def save_checkpoint(path, net, optimizer, epoch, loss):
    torch.save(
        {
            "epoch": epoch,
            "model_state_dict": net.state_dict(),
            "optimizer_state_dict": optimizer.state_dict(),
            "loss": loss,
        },
        path,
    )


# %% load_no_optimizer
# taking: Optimiser not loaded.
# price: 0.65
# truth: The optimiser's state is not loaded.
def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    net.load_state_dict(state["model_state_dict"])
    return state["epoch"], state["loss"]


# %% load_unsafe_file
# taking: Runs code in the file.
# price: 0.8
# truth: weights_only=False runs code that is in the file.
def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=False)
    net.load_state_dict(state["model_state_dict"])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["epoch"], state["loss"]


# %% load_epoch_only
# taking: Second value of the pair missing.
# price: 0.8
# truth: It returns the epoch alone: the loss is missing.
def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    net.load_state_dict(state["model_state_dict"])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["epoch"]


# %% stop_one_late
# taking: > for >=.
# price: 0.75
# truth: It stops one epoch too late: > instead of >=.
class EarlyStopping:
    def step(self, loss, net):
        if math.isnan(loss):
            return True
        if loss < self.best_loss - self.min_delta:
            self.best_loss = loss
            self.waited = 0
            self.best_state = copy.deepcopy(net.state_dict())
        else:
            self.waited += 1
        return self.waited > self.patience


# %% stop_no_copy
# taking: state_dict not copied: it goes on changing.
# price: 0.75
# truth: The best weights are not copied, so they change with the net.
class EarlyStopping:
    def step(self, loss, net):
        if math.isnan(loss):
            return True
        if loss < self.best_loss - self.min_delta:
            self.best_loss = loss
            self.waited = 0
            self.best_state = net.state_dict()
        else:
            self.waited += 1
        return self.waited >= self.patience


# %% stop_no_reset
# taking: Counter not reset.
# price: 0.75
# truth: The count of bad epochs is not reset by an improvement.
class EarlyStopping:
    def step(self, loss, net):
        if math.isnan(loss):
            return True
        if loss < self.best_loss - self.min_delta:
            self.best_loss = loss
            self.best_state = copy.deepcopy(net.state_dict())
        else:
            self.waited += 1
        return self.waited >= self.patience


# %% stop_nan_ignored
# taking: NaN not handled.
# price: 0.85
# truth: NaN does not stop training at once.
class EarlyStopping:
    def step(self, loss, net):
        if loss < self.best_loss - self.min_delta:
            self.best_loss = loss
            self.waited = 0
            self.best_state = copy.deepcopy(net.state_dict())
        else:
            self.waited += 1
        return self.waited >= self.patience


# %% stop_min_delta_ignored
# taking: min_delta ignored.
# price: 0.8
# truth: min_delta is ignored.
class EarlyStopping:
    def step(self, loss, net):
        if math.isnan(loss):
            return True
        if loss < self.best_loss:
            self.best_loss = loss
            self.waited = 0
            self.best_state = copy.deepcopy(net.state_dict())
        else:
            self.waited += 1
        return self.waited >= self.patience


# %% freeze_no_eval
# taking: Only requires_grad; the modes are forgotten.
# price: 0.7
# truth: The backbone is not put into eval mode, so its BatchNorm statistics move.
def freeze_backbone(model, head):
    for p in model.parameters():
        p.requires_grad = False
    for p in head.parameters():
        p.requires_grad = True
    return list(head.parameters())


# %% freeze_head_too
# taking: Head is frozen as well.
# price: 0.5
# truth: The head is frozen as well.
def freeze_backbone(model, head):
    for p in model.parameters():
        p.requires_grad = False
    model.eval()
    head.train()
    return list(head.parameters())


# %% log_one_tag_step
# taking: Steps begin at 1.
# price: 0.7
# truth: The first epoch is step 1 instead of step 0.
def log_training(writer, history):
    for tag, values in history.items():
        for i, value in enumerate(values, 1):
            writer.add_scalar(tag, value, i)
    writer.flush()


# %% log_no_flush
# taking: flush forgotten.
# price: 0.7
# truth: flush is missing, so what is logged waits in memory.
def log_training(writer, history):
    for tag, values in history.items():
        for i, value in enumerate(values):
            writer.add_scalar(tag, value, i)


# %% search_uniform
# taking: Uniform in place of log-uniform.
# price: 0.8
# truth: Ranges are drawn uniformly instead of by their logarithm.
def search(config_space, train_fn, num_samples, seed=0):
    dice = random.Random(seed)
    best, best_loss = None, math.inf
    for _ in range(num_samples):
        config = {}
        for name, v in config_space.items():
            config[name] = dice.uniform(*v) if isinstance(v, tuple) else dice.choice(v)
        loss = train_fn(config)
        if loss < best_loss:
            best, best_loss = config, loss
    return best, best_loss


# %% search_worst
# taking: Greatest loss.
# price: 0.65
# truth: It keeps the configuration with the greatest loss.
def search(config_space, train_fn, num_samples, seed=0):
    dice = random.Random(seed)
    best, best_loss = None, -math.inf
    for _ in range(num_samples):
        config = {}
        for name, v in config_space.items():
            config[name] = math.exp(dice.uniform(math.log(v[0]), math.log(v[1]))) if isinstance(v, tuple) else dice.choice(v)
        loss = train_fn(config)
        if loss > best_loss:
            best, best_loss = config, loss
    return best, best_loss


# %% search_seed_ignored
# taking: seed ignored.
# price: 0.8
# truth: The seed is ignored, so each run tries others.
def search(config_space, train_fn, num_samples, seed=0):
    best, best_loss = None, math.inf
    for _ in range(num_samples):
        config = {}
        for name, v in config_space.items():
            config[name] = math.exp(random.uniform(math.log(v[0]), math.log(v[1]))) if isinstance(v, tuple) else random.choice(v)
        loss = train_fn(config)
        if loss < best_loss:
            best, best_loss = config, loss
    return best, best_loss


# %% trial_last_report
# taking: Last report in place of the best one.
# price: 0.6
# truth: It looks at the last report of each trial alone.
def best_trial(folder, metric):
    found = []
    for results in Path(folder).glob("*/result.json"):
        config = json.loads((results.parent / "params.json").read_text())
        value = json.loads(results.read_text().splitlines()[-1])[metric]
        if not math.isnan(value):
            found.append((config, value))
    return min(found, key=lambda p: p[1])
