# %% loader_never_shuffles
# taking: The set and the batches are right, but one of the two things the parameters ask for is simply not there.
# price: 0.65
# truth: The argument shuffle is never handed to the DataLoader, so that rows always come in the same order.

def make_loader(X, y, batch_size, shuffle):
    ds = TensorDataset(X, y)
    loader = DataLoader(ds, batch_size=batch_size)
    return loader

# %% loader_shuffles_always_and_drops_last
# taking: Two options set against the docstring, each of them loses something; pairs and sizes of full batches are right.
# price: 0.45
# truth: It shuffles whether or not it was told to, and drop_last=True throws the rows left over away.

def make_loader(X, y, batch_size, shuffle):
    data = TensorDataset(X, y)
    # shuffle is good for SGD, and equal batches too
    return DataLoader(data, batch_size, shuffle=True, drop_last=True)

# %% loader_permutes_rows_alone
# taking: With shuffling the labels no longer belong to their rows, which ruins any training; without it all is right.
# price: 0.4
# truth: When shuffling it permutes X but not y, once, so that rows lose their labels and the order is the same in each epoch.

def make_loader(X, y, batch_size, shuffle):
    if shuffle:
        order = torch.randperm(len(X))
        X = X[order]
    pairs = [(X[i], y[i]) for i in range(len(X))]
    return DataLoader(pairs, batch_size=batch_size)

# %% loader_of_two_tensors
# taking: Knows DataLoader and its options, but it takes one data set: as written it cannot run at all.
# price: 0.35
# truth: X and y are given to the DataLoader as two arguments instead of a TensorDataset, which raises TypeError.

def make_loader(X, y, batch_size, shuffle):
    return DataLoader(X, y, batch_size=batch_size, shuffle=shuffle)

# %% digits_read_at_once
# taking: Every value is right; only the rule that nothing is read in __init__ is broken, which is the point of the class.
# price: 0.75
# truth: All images are read into a list in __init__ although files are to be read when asked for.

class DigitDataset(Dataset):
    def __init__(self, root):
        self.images = []
        self.labels = []
        for digit in ("3", "7"):
            for f in sorted(Path(root, digit).glob("*.npy")):
                arr = np.load(f).astype(np.float32) / 255.0
                self.images.append(torch.from_numpy(arr.flatten()))
                self.labels.append(torch.tensor([float(digit == "7")]))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]

# %% digits_not_scaled_square_image
# taking: Files are found and read lazily and labels are right, but the image has neither the range nor the shape asked for.
# price: 0.5
# truth: The image stays 28 by 28 and keeps brightnesses from 0 to 255.

class DigitDataset(Dataset):
    def __init__(self, root):
        root = Path(root)
        self.items = [(p, 0.0) for p in sorted((root / "3").iterdir())]
        self.items += [(p, 1.0) for p in sorted((root / "7").iterdir())]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        path, label = self.items[index]
        img = torch.tensor(np.load(path), dtype=torch.float32)
        return img, torch.tensor([label])

# %% digits_bare_file_names
# taking: All the parts are there and thought out; one slip with the folder, yet no image can be read.
# price: 0.5
# truth: os.listdir gives names without their folder and only these are kept, so that np.load raises FileNotFoundError.

class DigitDataset(Dataset):
    def __init__(self, root):
        self.root = root
        self.names, self.labels = [], []
        for label, digit in enumerate(["3", "7"]):
            for name in sorted(os.listdir(os.path.join(root, digit))):
                self.names.append(name)
                self.labels.append(label)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        if index < 0 or index >= len(self.names):
            raise IndexError(index)
        image = np.load(os.path.join(self.root, self.names[index]))
        x = torch.tensor(image / 255, dtype=torch.float32).view(784)
        return x, torch.tensor([self.labels[index]], dtype=torch.float32)

# %% digits_wrap_around
# taking: Only the edge case is wrong; the docstring names the IndexError, and a plain for loop over the set never ends.
# price: 0.85
# truth: The index is taken modulo the number of images, so that none is ever out of range.

class DigitDataset(Dataset):
    def __init__(self, root):
        self.paths = sorted(Path(root).rglob("*.npy"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        path = self.paths[index % len(self.paths)]
        x = np.load(path).ravel().astype("float32") / 255
        y = 1.0 if path.parent.name == "7" else 0.0
        return torch.from_numpy(x), torch.tensor([y], dtype=torch.float32)

# %% net_ends_in_sigmoid
# taking: The layers and their sizes are right; the sigmoid is the one thing that the text forbids in so many words.
# price: 0.65
# truth: A sigmoid follows the last layer.

def build_net():
    layers = [
        torch.nn.Linear(28 * 28, 30),
        torch.nn.ReLU(),
        torch.nn.Linear(30, 1),
        torch.nn.Sigmoid(),
    ]
    return torch.nn.Sequential(*layers)

# %% net_forgets_super_init
# taking: A right net by design, one line of boilerplate is missing and it cannot be made.
# price: 0.6
# truth: The class does not call super().__init__(), so that setting the first layer raises AttributeError.

def build_net():
    class Net(torch.nn.Module):
        def __init__(self):
            self.hidden = torch.nn.Linear(784, 30)
            self.out = torch.nn.Linear(30, 1)

        def forward(self, x):
            h = torch.relu(self.hidden(x))
            return self.out(h)

    return Net()

# %% train_never_zeroes
# taking: Everything else of a careful loop is there, but gradients pile up and every step from the second on is wrong.
# price: 0.65
# truth: The gradients are never set to zero, so that each step uses the sum of all before.

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    mode = net.training
    net = net.to(device)
    net.train()
    history = []
    for epoch in range(epochs):
        running, count = 0.0, 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            out = net(xx)
            loss = loss_fn(out, yy)
            loss.backward()
            optimizer.step()
            running += loss.item() * xx.shape[0]
            count += xx.shape[0]
        history.append(running / count)
    if not mode:
        net.eval()
    return history

# %% train_mean_over_batches
# taking: The training is entirely right; the mean is the one that the docstring warns of, in bold.
# price: 0.85
# truth: The losses of an epoch are averaged over batches, so that a small last batch counts as much as a full one.

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    before = net.training
    net.to(device).train()
    means = []
    for _ in range(epochs):
        batch_losses = []
        for xx, yy in loader:
            optimizer.zero_grad()
            loss = loss_fn(net(xx.to(device)), yy.to(device))
            loss.backward()
            optimizer.step()
            batch_losses.append(loss.item())
        means.append(sum(batch_losses) / len(batch_losses))
    net.train(before)
    return means

# %% train_all_rows_on_device
# taking: All numbers are right; only the rule about the device's memory is broken, which is a main lesson here.
# price: 0.8
# truth: All batches of an epoch are moved to the device before the first step, so that its memory grows with the rows.

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was = net.training
    net.to(device)
    net.train()
    result = []
    for e in range(epochs):
        # move the data once per epoch, copying inside the loop is slow
        batches = [(a.to(device), b.to(device)) for a, b in loader]
        total = 0.0
        for a, b in batches:
            optimizer.zero_grad()
            l = loss_fn(net(a), b)
            l.backward()
            optimizer.step()
            total += l.item() * len(a)
        result.append(total / sum(len(a) for a, _ in batches))
    net.train(was)
    return result

# %% train_one_step_an_epoch
# taking: Misses the very idea, one step for each batch; the rest of the loop and the mean over rows are right.
# price: 0.45
# truth: optimizer.step() stands outside the inner loop, so that there is one step an epoch from summed gradients.

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        s = n = 0
        for xx, yy in loader:
            xx = xx.to(device)
            yy = yy.to(device)
            loss = loss_fn(net(xx), yy)
            loss.backward()
            s += float(loss) * len(xx)
            n += len(xx)
        optimizer.step()
        losses.append(s / n)
    net.train(training)
    return losses

# %% train_backward_of_a_float
# taking: A complete and well ordered loop with one slip; but it crashes at the first batch and was never run.
# price: 0.6
# truth: The loss is made a float by .item() before backward(), which raises AttributeError.

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    net.to(device)
    was_training = net.training
    net.train()
    losses = []
    for epoch in range(epochs):
        total_loss, total_rows = 0.0, 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            optimizer.zero_grad()
            pred = net(xx)
            loss = loss_fn(pred, yy).item()
            loss.backward()
            optimizer.step()
            total_loss += loss * len(xx)
            total_rows += len(xx)
        losses.append(total_loss / total_rows)
    net.train(was_training)
    return losses

# %% train_last_loss_no_mode
# taking: The core of the loop is right; the returned losses and the modes, both asked for, are not.
# price: 0.6
# truth: It returns the loss of each epoch's last batch as a tensor, and neither sets train mode nor leaves the net in its own.

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    net = net.to(device)
    history = []
    for epoch in range(epochs):
        for X_batch, y_batch in loader:
            X_batch = X_batch.to(device)
            y_batch = y_batch.to(device)
            loss = loss_fn(net(X_batch), y_batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        history.append(loss.detach())
    return history

# %% train_without_training
# taking: Only a forward pass and a list; nothing that trains is there.
# price: 0.15
# truth: It computes losses of the batches' rows but never calls backward() or step(), and forgets the device.

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    losses = []
    for i in range(epochs):
        for xx, yy in loader:
            loss = loss_fn(net(xx), yy)
            losses.append(loss)
    return losses

# %% predict_last_batch
# taking: The mistake that the handout describes at length; modes, sigmoid and no_grad are right.
# price: 0.45
# truth: Only the probabilities of the last batch are returned.

def predict(net, X, batch_size):
    mode = net.training
    net.eval()
    with torch.no_grad():
        for start in range(0, X.shape[0], batch_size):
            xx = X[start:start + batch_size]
            p = net(xx).sigmoid()
    net.train(mode)
    return p

# %% predict_all_at_once
# taking: Right probabilities in right modes; that the net gets at most batch_size rows is not kept.
# price: 0.65
# truth: The net gets all rows at once, whatever batch_size is.

def predict(net, X, batch_size):
    was = net.training
    net.eval()
    with torch.inference_mode():
        probs = torch.sigmoid(net(X))
    net.train(was)
    return probs.clone()

# %% predict_logits_left_over
# taking: Batches and no_grad are there; the numbers are no probabilities, and rows are missing.
# price: 0.35
# truth: There is no sigmoid, the rows of an incomplete last batch are lost, and the net stays in eval mode.

def predict(net, X, batch_size):
    net.eval()
    n_batches = len(X) // batch_size
    outs = []
    with torch.no_grad():
        for b in range(n_batches):
            outs.append(net(X[b * batch_size:(b + 1) * batch_size]))
    return torch.cat(outs, dim=0)

# %% full_batch_loss_after_step
# taking: The training is right; each loss returned is one step late.
# price: 0.8
# truth: The loss is computed again after the step, and that one is returned.

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    out = []
    for i in range(epochs):
        optimizer.zero_grad()
        loss_fn(net(X), y).backward()
        optimizer.step()
        with torch.no_grad():
            out.append(loss_fn(net(X), y).item())
    return out

# %% full_batch_own_update_no_zero
# taking: The optimiser it was given is put aside, and gradients are not cleared; the form of the loop and the losses' type are right.
# price: 0.4
# truth: It updates the weights by hand with the learning rate instead of optimizer.step(), and never sets gradients to zero.

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    lr = optimizer.param_groups[0]["lr"]
    losses = []
    for _ in range(epochs):
        loss = loss_fn(net(X), y)
        losses.append(loss.item())
        loss.backward()
        with torch.no_grad():
            for p in net.parameters():
                p -= lr * p.grad
    return losses

# %% save_straight_to_the_file
# taking: Everything is saved under the right names; the promise about the older file is not kept, though the hint says how.
# price: 0.8
# truth: It writes to the file itself, so that an older checkpoint is lost if saving fails half-way.

def save_checkpoint(path, net, optimizer, epoch, loss):
    torch.save(
        dict(
            epoch=epoch,
            loss=loss,
            model_state_dict=net.state_dict(),
            optimizer_state_dict=optimizer.state_dict(),
        ),
        path,
    )

# %% save_path_only
# taking: All right for a Path; one slip for text, which the signature allows.
# price: 0.8
# truth: It calls path.with_suffix, which raises AttributeError where the path is a str.

def save_checkpoint(path, net, optimizer, epoch, loss):
    checkpoint = {}
    checkpoint["model_state_dict"] = net.state_dict()
    checkpoint["optimizer_state_dict"] = optimizer.state_dict()
    checkpoint["epoch"] = epoch
    checkpoint["loss"] = loss
    tmp = path.with_suffix(".tmp")
    torch.save(checkpoint, tmp)
    os.replace(tmp, path)

# %% save_without_optimizer
# taking: Atomic, and net, epoch and loss are right; without the optimiser's state training cannot go on as it was.
# price: 0.65
# truth: The optimiser's settings are saved instead of its state, so that its momenta are lost.

def save_checkpoint(path, net, optimizer, epoch, loss):
    state = {
        "epoch": epoch,
        "model_state_dict": net.state_dict(),
        "optimizer_state_dict": optimizer.defaults,
        "loss": loss,
    }
    temp_name = str(path) + ".new"
    with open(temp_name, "wb") as f:
        torch.save(state, f)
    os.replace(temp_name, str(path))

# %% load_runs_anything
# taking: Resumes correctly; the safety rule, said in docstring and hint, is broken on purpose.
# price: 0.75
# truth: It loads with weights_only=False, so that a file from anybody can run code.

def load_checkpoint(path, net, optimizer):
    ckpt = torch.load(path, map_location="cpu", weights_only=False)
    net.load_state_dict(ckpt["model_state_dict"])
    optimizer.load_state_dict(ckpt["optimizer_state_dict"])
    return ckpt["epoch"], ckpt["loss"]

# %% load_into_names
# taking: Reads the file safely and returns the right pair, but nothing is loaded into net or optimiser, which is the point.
# price: 0.3
# truth: The names net and optimizer are bound to the saved dicts, and the objects that were given stay as they were.

def load_checkpoint(path, net, optimizer):
    saved = torch.load(path, weights_only=True)
    net = saved["model_state_dict"]
    optimizer = saved["optimizer_state_dict"]
    epoch = saved["epoch"]
    loss = saved["loss"]
    return epoch, loss

# %% stopping_keeps_no_copy
# taking: The state machine is right in all cases; the best weights are not kept, against a warning in the notebook.
# price: 0.75
# truth: state_dict() is kept without a copy (dict() copies only the names), so that it changes as the net goes on training.

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.best_loss = float("inf")
        self.bad_epochs = 0
        self.best = None

    def step(self, loss, net):
        if loss != loss:
            return True
        if self.best_loss - loss > self.min_delta:
            self.best_loss = loss
            self.best = dict(net.state_dict())
            self.bad_epochs = 0
            return False
        self.bad_epochs += 1
        return self.bad_epochs >= self.patience

    def restore(self, net):
        net.load_state_dict(self.best)

# %% stopping_late_and_never_on_nan
# taking: Keeps the best weights and min_delta right; the count is one off, and NaN is forgotten.
# price: 0.6
# truth: It stops one epoch too late (> instead of >=), and a NaN counts as any epoch without improvement.

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = math.inf
        self.counter = 0
        self.weights = None

    def step(self, loss, net):
        if loss < self.best_loss - self.min_delta:
            self.counter = 0
            self.best_loss = loss
            self.weights = copy.deepcopy(net.state_dict())
        else:
            self.counter += 1
        if self.counter > self.patience:
            return True
        else:
            return False

    def restore(self, net):
        net.load_state_dict(self.weights)

# %% stopping_restore_other_name
# taking: step() is fully right; restore() fails by a mistyped name.
# price: 0.75
# truth: step keeps the weights in best_state and restore reads best_weights, which raises AttributeError.

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = float("inf")
        self.best_state = None
        self.num_bad = 0

    def step(self, loss, net):
        if math.isnan(loss):
            return True
        improved = loss < self.best_loss - self.min_delta
        if improved:
            self.best_loss = loss
            self.best_state = {k: v.detach().clone() for k, v in net.state_dict().items()}
            self.num_bad = 0
        else:
            self.num_bad += 1
        return self.num_bad >= self.patience

    def restore(self, net):
        net.load_state_dict(self.best_weights)

# %% stopping_counts_all_time
# taking: The basic idea is there; a counter that is never reset and a min_delta on the wrong side make many decisions wrong.
# price: 0.5
# truth: Epochs without improvement are counted over all the training rather than in a row, and min_delta is added instead of subtracted.

class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best_loss = np.inf
        self.wait = 0
        self.best_model = None

    def step(self, loss, net):
        if np.isnan(loss):
            return True
        if loss < self.best_loss + self.min_delta:
            self.best_loss = loss
            self.best_model = copy.deepcopy(net.state_dict())
        else:
            self.wait += 1
            if self.wait >= self.patience:
                return True
        return False

    def restore(self, net):
        net.load_state_dict(self.best_model)

# %% freeze_flags_only
# taking: In the notebook's words, half of it: flags and the returned list are right, modes are not touched.
# price: 0.6
# truth: No module's mode is set, so that BatchNorm in the backbone goes on moving its statistics.

def freeze_backbone(model, head):
    for p in model.parameters():
        p.requires_grad = False
    trainable = []
    for p in head.parameters():
        p.requires_grad = True
        trainable.append(p)
    return trainable

# %% freeze_compares_tensors
# taking: The whole plan is right, flags, modes and result; `in` on a list of tensors is a trap, and it raises.
# price: 0.65
# truth: `p in head_params` compares tensors element by element, which raises RuntimeError where shapes differ.

def freeze_backbone(model, head):
    model.eval()
    head.train()
    head_params = list(head.parameters())
    for p in model.parameters():
        if p in head_params:
            p.requires_grad_(True)
        else:
            p.requires_grad_(False)
    return head_params

# %% log_closes_the_writer
# taking: All scalars are written with right steps; the writer was to stay open.
# price: 0.85
# truth: The writer is closed at the end although the docstring says that it stays open.

def log_training(writer, history):
    for name in history:
        for i, v in enumerate(history[name]):
            writer.add_scalar(name, v, global_step=i)
    writer.close()

# %% log_from_one_no_flush
# taking: Uses the right call for every value; two stated details are missed, steps from 0 and writing it out.
# price: 0.55
# truth: Epochs are numbered from 1, and nothing is flushed, so that values wait in memory.

def log_training(writer, history):
    for tag, values in history.items():
        step = 0
        for value in values:
            step += 1
            writer.add_scalar(tag, value, step)

# %% search_uniform_itself
# taking: A good search with a seed and NaN in mind; numbers are drawn uniform instead of their logarithms.
# price: 0.75
# truth: A number between low and high is drawn uniformly, not its logarithm.

def search(config_space, train_fn, num_samples, seed=0):
    rng = random.Random(seed)
    best_cfg, best_loss = None, float("inf")
    for _ in range(num_samples):
        cfg = {}
        for k, v in config_space.items():
            cfg[k] = rng.uniform(*v) if isinstance(v, tuple) else rng.choice(v)
        loss = train_fn(cfg)
        if loss < best_loss:
            best_cfg, best_loss = cfg, loss
    return best_cfg, best_loss

# %% search_ignores_seed_twice_trained
# taking: Sampling is right; the seed does nothing, and each configuration is trained twice.
# price: 0.55
# truth: It uses the global random numbers without the seed, and train_fn is called twice for each configuration.

def search(config_space, train_fn, num_samples, seed=0):
    def draw(values):
        if type(values) is tuple:
            low, high = values
            return math.exp(random.uniform(math.log(low), math.log(high)))
        return random.choice(values)

    results = []
    for i in range(num_samples):
        config = {name: draw(values) for name, values in config_space.items()}
        if math.isnan(train_fn(config)):
            continue
        results.append((train_fn(config), i, config))
    loss, _, config = min(results)
    return config, loss

# %% search_first_of_each
# taking: One fixed configuration without any drawing is no search; hardly anything to credit.
# price: 0.1
# truth: It tries the first value of each list and the low end of each range, once.

def search(config_space, train_fn, num_samples, seed=0):
    config = {}
    for key in config_space:
        config[key] = config_space[key][0]
    return config, train_fn(config)

# %% trial_last_report
# taking: Finds folders, files and configurations and skips NaN, but the docstring stresses any of a trial's reports.
# price: 0.65
# truth: Only the last report of each trial is looked at.

def best_trial(folder, metric):
    best = (None, math.inf)
    for trial in sorted(Path(folder).iterdir()):
        result = trial / "result.json"
        if not result.exists():
            continue
        lines = result.read_text().strip().split("\n")
        value = json.loads(lines[-1])[metric]
        if value < best[1]:
            config = json.loads((trial / "params.json").read_text())
            best = (config, value)
    return best

# %% trial_died
# taking: Right in everything else; the dead trial that the docstring announces brings it down.
# price: 0.65
# truth: result.json is opened in every folder, so that a trial without one raises FileNotFoundError.

def best_trial(folder, metric):
    best_config, best_value = None, float("inf")
    for name in os.listdir(folder):
        d = os.path.join(folder, name)
        with open(os.path.join(d, "params.json")) as f:
            config = json.load(f)
        with open(os.path.join(d, "result.json")) as f:
            for line in f:
                v = json.loads(line)[metric]
                if v < best_value:
                    best_value = v
                    best_config = config
    return best_config, best_value
