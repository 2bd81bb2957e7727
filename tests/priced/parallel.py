"""Wrong answers to parallel, each with the share of its question's points that a good TA would give."""


# %% toy_no_relu
# taking: ReLU forgotten; devices and transfers right.
# price: 0.75
# truth: The ReLU is missing.
class ToyModel(nn.Module):
    def forward(self, x):
        return self.net2(self.net1(x.to("cuda:0")).to("cuda:1"))


# %% toy_one_gpu
# taking: Both layers on one GPU: the point is missed, the numbers are right.
# price: 0.35
# truth: Both layers are on cuda:0; nothing is on cuda:1.
class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.relu = nn.ReLU()
        self.net2 = nn.Linear(10, 5).to("cuda:0")

    def forward(self, x):
        return self.net2(self.relu(self.net1(x.to("cuda:0"))))


# %% toy_activation_not_moved
# taking: The activation is not moved: device error.
# price: 0.5
# truth: The activation is not moved to cuda:1, so net2 raises a device error.
class ToyModel(nn.Module):
    def forward(self, x):
        return self.net2(self.relu(self.net1(x.to("cuda:0"))))


# %% toy_detour
# taking: Goes over the CPU.
# price: 0.8
# truth: The activation travels over the CPU.
class ToyModel(nn.Module):
    def forward(self, x):
        x = self.relu(self.net1(x.to("cuda:0"))).cpu()
        return self.net2(x.to("cuda:1"))


# %% step_no_zero_grad
# taking: zero_grad forgotten.
# price: 0.65
# truth: The old gradients are not set to zero.
def train_step(model, loss_fn, optimizer, inputs, labels):
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to(outputs.device))
    loss.backward()
    optimizer.step()
    return loss.item()


# %% step_returns_tensor
# taking: Tensor in place of a float.
# price: 0.8
# truth: The loss is returned as a tensor instead of a float.
def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to(outputs.device))
    loss.backward()
    optimizer.step()
    return loss


# %% step_labels_not_moved
# taking: Labels stay on the CPU: device error.
# price: 0.6
# truth: The labels are not moved to the outputs' device.
def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs, labels)
    loss.backward()
    optimizer.step()
    return loss.item()


# %% step_outputs_home
# taking: Moves the outputs to the labels.
# price: 0.8
# truth: The outputs are moved to the labels' device instead of the labels to theirs.
def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs).to(labels.device)
    loss = loss_fn(outputs, labels)
    loss.backward()
    optimizer.step()
    return loss.item()


# %% step_no_update
# taking: step() forgotten.
# price: 0.6
# truth: optimizer.step() is missing, so no weight changes.
def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to(outputs.device))
    loss.backward()
    return loss.item()


# %% resnet_fc_on_zero
# taking: fc left on the CPU: error at the end.
# price: 0.6
# truth: fc stays on the CPU, so the last layer raises a device error.
class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")


# %% resnet_no_flatten
# taking: flatten forgotten.
# price: 0.6
# truth: flatten is missing before fc, so the shapes do not fit.
class ModelParallelResNet50(ResNet):
    def forward(self, x):
        x = self.seq2(self.seq1(x).to("cuda:1"))
        return self.fc(x)


# %% resnet_cut_elsewhere
# taking: Cut after layer1; works.
# price: 0.75
# truth: layer2 is on cuda:1 instead of cuda:0.
class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        self.seq1 = nn.Sequential(self.conv1, self.bn1, self.relu, self.maxpool, self.layer1).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer2, self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")


# %% average_unweighted
# taking: Plain mean over the parts: right for equal parts.
# price: 0.75
# truth: The parts count alike, though they may be of unequal size.
def average_gradients(model, loss_fn, inputs, labels, devices):
    parts = list(zip(devices, inputs.chunk(len(devices)), labels.chunk(len(devices))))
    losses, replicas = [], []
    for device, x, y in parts:
        replica = copy.deepcopy(model).to(device)
        replica.zero_grad()
        loss = loss_fn(replica(x.to(device)), y.to(device))
        loss.backward()
        losses.append(loss.detach())
        replicas.append(replica)
    for i, p in enumerate(model.parameters()):
        p.grad = sum(list(r.parameters())[i].grad.to(devices[0]) for r in replicas) / len(parts)
    return sum(loss.item() for loss in losses) / len(parts)


# %% average_sum
# taking: Sum of gradients and losses, not divided.
# price: 0.65
# truth: The gradients are added up and not averaged.
def average_gradients(model, loss_fn, inputs, labels, devices):
    losses, replicas = [], []
    for device, x, y in zip(devices, inputs.chunk(len(devices)), labels.chunk(len(devices))):
        replica = copy.deepcopy(model).to(device)
        replica.zero_grad()
        loss = loss_fn(replica(x.to(device)), y.to(device))
        loss.backward()
        losses.append(loss.detach())
        replicas.append(replica)
    for i, p in enumerate(model.parameters()):
        p.grad = sum(list(r.parameters())[i].grad.to(devices[0]) for r in replicas)
    return sum(loss.item() for loss in losses)


# %% average_first_device
# taking: All on the first device: that rule is half.
# price: 0.5
# truth: All work is done on the first device.
def average_gradients(model, loss_fn, inputs, labels, devices):
    model.zero_grad()
    loss = loss_fn(model(inputs.to(devices[0])), labels.to(devices[0]))
    loss.backward()
    return loss.item()


# %% dataparallel_forgotten
# taking: Moves to one GPU; no DataParallel.
# price: 0.25
# truth: Only one GPU is used: DataParallel is missing.
def to_data_parallel(model):
    return model.to("cuda:0")


# %% dataparallel_not_moved
# taking: DataParallel is there; the model stays on the CPU.
# price: 0.6
# truth: The model is not moved to cuda:0.
def to_data_parallel(model):
    return nn.DataParallel(model)


# %% pool_unordered
# taking: Order is lost.
# price: 0.7
# truth: The results come in the order in which they are done.
def pool_map(f, xs, processes=5):
    with Pool(processes) as pool:
        return list(pool.imap_unordered(f, xs))


# %% pool_not_closed
# taking: Pool is not closed.
# price: 0.75
# truth: The pool is not closed, so its processes are left.
def pool_map(f, xs, processes=5):
    pool = Pool(processes)
    globals()["kept"] = pool
    return pool.map(f, xs)


# %% pool_serial
# taking: No pool at all.
# price: 0.3
# truth: There are no processes: it is a plain loop.
def pool_map(f, xs, processes=5):
    return [f(x) for x in xs]


# %% ddp_no_set_epoch
# taking: set_epoch forgotten.
# price: 0.8
# truth: set_epoch is missing, so each epoch has the same order.
def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    sampler = DistributedSampler(dataset, world_size, rank)
    loader = DataLoader(dataset, batch_size, sampler=sampler)
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=lr)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss_fn(parallel(x), y).backward()
            optimizer.step()
    distributed.destroy_process_group()


# %% ddp_no_sampler
# taking: Each process goes through all data.
# price: 0.55
# truth: There is no DistributedSampler: each process uses all samples.
def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    loader = DataLoader(dataset, batch_size, shuffle=True)
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=lr)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss_fn(parallel(x), y).backward()
            optimizer.step()
    distributed.destroy_process_group()


# %% pipeline_no_overlap
# taking: Right, in parts, one after the other finished: waits after each part.
# price: 0.6
# truth: Each part is finished on both GPUs before the next begins, so they do not overlap.
class PipelineParallelResNet50(ModelParallelResNet50):
    def forward(self, x):
        out = []
        for part in x.split(self.split_size):
            h = self.seq1(part).to("cuda:1")
            out.append(self.fc(self.seq2(h).flatten(1)))
            torch.cuda.synchronize("cuda:1")
        return torch.cat(out)


# %% pipeline_last_part_missing
# taking: The last part is forgotten after the loop.
# price: 0.7
# truth: The scores of the last part are missing.
class PipelineParallelResNet50(ModelParallelResNet50):
    def forward(self, x):
        parts = iter(x.split(self.split_size))
        arrived = self.seq1(next(parts)).to("cuda:1")
        scores = []
        for part in parts:
            scores.append(self.fc(self.seq2(arrived).flatten(1)))
            arrived = self.seq1(part).to("cuda:1")
        return torch.cat(scores)


# %% timing_no_sync
# taking: Synchronisation forgotten.
# price: 0.5
# truth: It reads the clock without waiting for the GPUs.
def time_training(model_fn, repeats=10):
    model = model_fn()
    train(model)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        train(model)
        times.append(time.perf_counter() - start)
    return float(np.mean(times)), float(np.std(times))


# %% timing_no_warmup
# taking: Warm-up forgotten.
# price: 0.75
# truth: The warm-up before the first measurement is missing.
def time_training(model_fn, repeats=10):
    model = model_fn()
    times = []
    for _ in range(repeats):
        for d in range(torch.cuda.device_count()):
            torch.cuda.synchronize(d)
        start = time.perf_counter()
        train(model)
        for d in range(torch.cuda.device_count()):
            torch.cuda.synchronize(d)
        times.append(time.perf_counter() - start)
    return float(np.mean(times)), float(np.std(times))


# %% split_slowest
# taking: max for min.
# price: 0.7
# truth: It returns the slowest candidate instead of the fastest.
def best_split_size(candidates, repeats=10):
    times = {s: time_training(functools.partial(PipelineParallelResNet50, s), repeats) for s in candidates}
    return max(times, key=lambda s: times[s][0]), times


# %% split_means_only
# taking: Means without the standard deviations.
# price: 0.8
# truth: The dict holds means alone instead of pairs of mean and deviation.
def best_split_size(candidates, repeats=10):
    times = {s: time_training(functools.partial(PipelineParallelResNet50, s), repeats)[0] for s in candidates}
    return min(times, key=times.get), times


# %% split_best_only
# taking: The timings are not returned.
# price: 0.65
# truth: It returns the best size alone: the timings are missing.
def best_split_size(candidates, repeats=10):
    times = {s: time_training(functools.partial(PipelineParallelResNet50, s), repeats) for s in candidates}
    return min(times, key=lambda s: times[s][0])
