# %% toy_input_not_moved
# taking: Layers on their GPUs and the activation travels; the input is expected on cuda:0 already, so a CPU batch raises.
# price: 0.6
# truth: forward does not move the input to cuda:0.

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10, device="cuda:0")
        self.net2 = nn.Linear(10, 5, device="cuda:1")

    def forward(self, x):
        hidden = torch.relu(self.net1(x))
        hidden = hidden.to("cuda:1")
        return self.net2(hidden)

# %% toy_layers_move_in_forward
# taking: Numbers are right, but the layers are made on the CPU and moved in every forward, which the handout rules out in bold.
# price: 0.6
# truth: Moves the layers in forward instead of placing them in __init__.

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10)
        self.relu = nn.ReLU()
        self.net2 = nn.Linear(10, 5)

    def forward(self, x):
        self.net1.to("cuda:0")
        self.net2.to("cuda:1")
        out = self.relu(self.net1(x.to("cuda:0")))
        out = self.net2(out.to("cuda:1"))
        return out

# %% toy_back_through_cpu
# taking: Right placement and numbers, but the activation goes through the CPU and the result is brought back to cuda:0: two needless moves.
# price: 0.72
# truth: The activation takes a detour by the CPU, and the output is returned on cuda:0 instead of cuda:1.

class ToyModel(nn.Module):
    def forward(self, x):
        x = x.to("cuda:0")
        x = self.relu(self.net1(x))
        x = x.cpu().to("cuda:1")
        x = self.net2(x)
        return x.to("cuda:0")

# %% train_step_outputs_to_labels
# taking: A right step for all models in numbers; but moves the outputs to the labels rather than the labels to the outputs.
# price: 0.83
# truth: Moves the outputs to the device of the labels.

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    preds = model(inputs).to(labels.device)
    loss = loss_fn(preds, labels)
    loss.backward()
    optimizer.step()
    return float(loss)

# %% train_step_fixed_device_tensor
# taking: Step order right; labels always go to cuda:1, which is a guess about the model, and the loss is returned as a tensor with its graph.
# price: 0.6
# truth: Labels are sent to cuda:1 whatever the outputs' device, and a tensor is returned.

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs)
    labels = labels.to("cuda:1")
    loss = loss_fn(outputs, labels)
    loss.backward()
    optimizer.step()
    return loss

# %% train_step_loss_after_update
# taking: Update is right with cleared gradients and labels moved; it runs the model once more and returns the loss after the update.
# price: 0.7
# truth: Returns the loss after the step instead of before.

def train_step(model, loss_fn, optimizer, inputs, labels):
    model.zero_grad()
    out = model(inputs)
    target = labels.to(out.device)
    loss_fn(out, target).backward()
    optimizer.step()
    with torch.no_grad():
        after = loss_fn(model(inputs), target)
    return after.item()

# %% resnet_cut_after_layer1
# taking: Everything follows in order and the numbers come out right; but the cut is one stage too early, so layer2 is on the wrong GPU.
# price: 0.72
# truth: layer2 is on cuda:1: the network is cut after layer1.

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        self.seq1 = nn.Sequential(
            self.conv1, self.bn1, self.relu, self.maxpool, self.layer1
        ).to("cuda:0")
        self.seq2 = nn.Sequential(
            self.layer2, self.layer3, self.layer4, self.avgpool
        ).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        x = self.seq1(x)
        x = x.to("cuda:1")
        x = self.seq2(x)
        x = torch.flatten(x, 1)
        return self.fc(x)

# %% resnet_no_flatten
# taking: Placement and moves are right, flatten between avgpool and fc is forgotten although the handout gives the shapes; so it raises.
# price: 0.55
# truth: fc gets (N, 2048, 1, 1), which raises.

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        for part in (self.conv1, self.bn1, self.layer1, self.layer2):
            part.to("cuda:0")
        for part in (self.layer3, self.layer4, self.fc):
            part.to("cuda:1")

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer2(self.layer1(x))
        x = x.to("cuda:1")
        x = self.layer4(self.layer3(x))
        return self.fc(self.avgpool(x))

# %% resnet_relu_maxpool_missing
# taking: The two GPUs and the one move are as asked; in the first half relu and maxpool are left out, so that all numbers are wrong and memory grows.
# price: 0.6
# truth: Leaves out relu and maxpool after bn1.

class ModelParallelResNet50(ResNet):
    def forward(self, x):
        x = self.bn1(self.conv1(x))
        x = self.layer1(x)
        x = self.layer2(x)
        x = x.to("cuda:1")
        x = self.layer3(x)
        x = self.layer4(x)
        x = self.avgpool(x).flatten(1)
        return self.fc(x)

# %% average_plain_mean
# taking: Copies, parts and devices are right; gradients and loss are averaged with equal weights, so uneven parts are wrong, as the handout warned.
# price: 0.78
# truth: Plain mean over the parts, not weighted by their sizes.

def average_gradients(model, loss_fn, inputs, labels, devices):
    x_parts = inputs.chunk(len(devices))
    y_parts = labels.chunk(len(devices))
    models, losses = [], []
    for i in range(len(x_parts)):
        m = copy.deepcopy(model).to(devices[i])
        m.zero_grad()
        loss = loss_fn(m(x_parts[i].to(devices[i])), y_parts[i].to(devices[i]))
        loss.backward()
        models.append(m)
        losses.append(loss)
    k = len(models)
    for idx, p in enumerate(model.parameters()):
        total = torch.zeros_like(p)
        for m in models:
            total += list(m.parameters())[idx].grad.to(devices[0])
        p.grad = total / k
    return sum(l.item() for l in losses) / k

# %% average_all_on_first
# taking: Gradients and loss are right even for uneven parts, since it just takes the whole batch on the first device; nothing is spread, which is half.
# price: 0.4
# truth: Runs the whole batch on devices[0]; the other devices do nothing.

def average_gradients(model, loss_fn, inputs, labels, devices):
    device = devices[0]
    model.zero_grad()
    outputs = model(inputs.to(device))
    loss = loss_fn(outputs, labels.to(device))
    loss.backward()
    return loss.item()

# %% average_old_grads_kept
# taking: Spread over devices and weighted by size; but it adds to the old gradients of the model, and breaks when there are fewer parts than devices.
# price: 0.72
# truth: Adds to old grads instead of replacing them, and indexes parts by all devices, so a small batch raises.

def average_gradients(model, loss_fn, inputs, labels, devices):
    xs = inputs.chunk(len(devices))
    ys = labels.chunk(len(devices))
    N = len(inputs)
    copies = []
    losses = []
    for k, dev in enumerate(devices):
        net = copy.deepcopy(model).to(dev)
        net.zero_grad()
        l = loss_fn(net(xs[k].to(dev)), ys[k].to(dev)) * (len(xs[k]) / N)
        l.backward()
        copies.append(net)
        losses.append(l.detach())
    for net in copies:
        for p, q in zip(model.parameters(), net.parameters()):
            g = q.grad.to(p.device)
            p.grad = g if p.grad is None else p.grad + g
    return sum(l.item() for l in losses)

# %% data_parallel_model_on_cpu
# taking: Knows DataParallel, but the model is not moved to cuda:0, so the first call raises on GPUs; half of two steps.
# price: 0.45
# truth: The model stays on the CPU, so DataParallel raises when it is called.

def to_data_parallel(model):
    wrapped = nn.DataParallel(model, device_ids=list(range(torch.cuda.device_count())))
    return wrapped

# %% pool_map_not_closed_default_size
# taking: Results come in order; but the number of processes is not passed on and the pool is never closed: two slips.
# price: 0.45
# truth: Pool() ignores processes, and nobody closes the pool.

def pool_map(f, xs, processes=5):
    pool = Pool()
    return list(pool.map(f, list(xs)))

# %% ddp_no_set_epoch_no_destroy
# taking: Sampler, wrapping and steps are right; set_epoch and destroy_process_group are forgotten, two of the four named things.
# price: 0.7
# truth: Never calls sampler.set_epoch, so each epoch has the same order, and does not leave the group.

def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group(backend="gloo", rank=rank, world_size=world_size)
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank, shuffle=True)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    ddp = DistributedDataParallel(model)
    opt = torch.optim.SGD(ddp.parameters(), lr=lr)
    for _ in range(epochs):
        for x, y in loader:
            opt.zero_grad()
            loss = loss_fn(ddp(x), y)
            loss.backward()
            opt.step()

# %% ddp_no_sampler
# taking: Joins and leaves the group, averages gradients; but without the sampler each process goes through all data, shuffled on its own.
# price: 0.45
# truth: No DistributedSampler: each process sees all samples in an order of its own.

def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    loader = DataLoader(dataset, batch_size=batch_size, shuffle=True)
    for epoch in range(epochs):
        for batch in loader:
            inputs, labels = batch
            optimizer.zero_grad()
            loss_fn(model(inputs), labels).backward()
            optimizer.step()
    distributed.destroy_process_group()

# %% pipeline_synchronises
# taking: Splits, numbers and placement right; each split runs through both GPUs and waits before the next begins, so nothing overlaps, the point of the class.
# price: 0.6
# truth: Calls torch.cuda.synchronize after each split, so that the GPUs never work at the same time.

class PipelineParallelResNet50(ModelParallelResNet50):
    def forward(self, x):
        outputs = []
        for split in torch.split(x, self.split_size):
            h = self.seq1(split).to("cuda:1")
            y = self.fc(self.seq2(h).flatten(1))
            torch.cuda.synchronize("cuda:1")
            outputs.append(y)
        return torch.cat(outputs, dim=0)

# %% pipeline_last_split_lost
# taking: Order of the work overlaps as it should; the last split that is still on its way is never finished, so its scores are missing.
# price: 0.6
# truth: The last split does not go through the second part, so its rows are missing (and one split alone raises).

class PipelineParallelResNet50(ModelParallelResNet50):
    def forward(self, x):
        splits = x.split(self.split_size, dim=0)
        prev = self.seq1(splits[0]).to("cuda:1")
        ret = []
        for i in range(1, len(splits)):
            s = self.seq2(prev)
            ret.append(self.fc(s.view(s.size(0), -1)))
            prev = self.seq1(splits[i]).to("cuda:1")
        return torch.cat(ret)

# %% time_training_no_sync_no_warmup
# taking: Times with the right clock and returns mean and deviation; no waiting for the GPUs and no first call, the two things that the text insists on.
# price: 0.45
# truth: No synchronisation before reading the clock, and no training before the first measurement.

def time_training(model_fn, repeats=10):
    model = model_fn()
    durations = []
    for _ in range(repeats):
        t0 = time.perf_counter()
        train(model)
        t1 = time.perf_counter()
        durations.append(t1 - t0)
    return float(np.mean(durations)), float(np.std(durations))

# %% plot_no_error_bars
# taking: Bars, labels, axis and file are right; the error bars, half of the title of the question, are not drawn.
# price: 0.7
# truth: stds is not used.

def plot_times(means, stds, labels, path):
    import matplotlib.pyplot as plt

    fig = plt.figure()
    ax = fig.add_subplot(111)
    ax.bar(list(labels), list(means), color="grey")
    ax.set_ylabel("time [s]")
    fig.savefig(path)
    plt.close(fig)

# %% best_split_slowest
# taking: Times each candidate with the right repeats and returns the dict; takes the slowest instead of the fastest size.
# price: 0.5
# truth: Chooses the greatest mean instead of the smallest.

def best_split_size(candidates, repeats=10):
    timings = {}
    best = None
    for c in candidates:
        timings[c] = time_training(lambda: PipelineParallelResNet50(c), repeats)
        if best is None or timings[c][0] > timings[best][0]:
            best = c
    return best, timings

# %% pipeline_just_whole
# taking: One line that calls the parent: right scores, but no splits and no pipeline; hardly any work on what the class is for.
# price: 0.2
# truth: Does not split the batch; it is the model-parallel network.

class PipelineParallelResNet50(ModelParallelResNet50):
    def forward(self, x):
        # the parent class can do this already
        return super().forward(x)
