# %% toy_moves_layer_in_forward
# taking: Right numbers and right moves of the data; a parameter that travels in forward is what the handout warns of.
# price: 0.65
# truth: Both layers are made on cuda:0, and net2 is moved to cuda:1 in forward.

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:0")

    def forward(self, x):
        h = torch.relu(self.net1(x.to("cuda:0")))
        return self.net2.to("cuda:1")(h.to("cuda:1"))

# %% toy_over_the_cpu
# taking: Layers are placed right and numbers are right; each move makes a detour that costs a second copy.
# price: 0.8
# truth: The activation goes to cuda:1 by way of the CPU.

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10, device="cuda:0")
        self.act = nn.ReLU()
        self.net2 = nn.Linear(10, 5, device="cuda:1")

    def forward(self, x):
        out = self.act(self.net1(x.to("cuda:0")))
        out = out.cpu().to("cuda:1")
        return self.net2(out)

# %% toy_activation_stays
# taking: Placement and the move of the input are right; the move that the question is about is missing, and it raises.
# price: 0.6
# truth: The activation is not moved to cuda:1, so that net2 raises RuntimeError.

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to(torch.device("cuda", 0))
        self.net2 = nn.Linear(10, 5).to(torch.device("cuda", 1))

    def forward(self, x):
        x = x.to(torch.device("cuda", 0))
        x = nn.functional.relu(self.net1(x))
        x = self.net2(x)
        return x

# %% toy_on_one_gpu_no_relu
# taking: The two layers have the right sizes and the output ends on the right GPU, but the model is not on two GPUs, and the ReLU is gone.
# price: 0.3
# truth: Both layers stay on cuda:0, only the output is moved, and there is no ReLU.

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10)
        self.net2 = nn.Linear(10, 5)
        self.to("cuda:0")

    def forward(self, x):
        x = self.net1(x.to("cuda:0"))
        x = self.net2(x)
        return x.to("cuda:1")

# %% step_keeps_old_gradients
# taking: Labels, backward, update and the float are right; forgetting old gradients is the first thing the docstring names.
# price: 0.65
# truth: The gradients are not set to zero.

def train_step(model, loss_fn, optimizer, inputs, labels):
    pred = model(inputs)
    target = labels.to(pred.device)
    loss = loss_fn(pred, target)
    loss.backward()
    optimizer.step()
    return float(loss)

# %% step_all_on_the_cpu
# taking: The step is right in numbers; outputs were to stay where they are, and are fetched to the CPU instead.
# price: 0.75
# truth: The outputs are moved to the CPU for the loss.

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    out = model(inputs).cpu()
    loss = loss_fn(out, labels.cpu())
    loss.backward()
    optimizer.step()
    return loss.detach().item()

# %% step_labels_stay_tensor_loss
# taking: The order of the step is right; the labels' device, which the question is about, is missed, and the loss is no float.
# price: 0.5
# truth: The labels are not moved, which raises RuntimeError for outputs elsewhere, and the loss is returned as a tensor.

def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs, labels)
    loss.backward()
    optimizer.step()
    return loss

# %% resnet_fc_not_flattened
# taking: Both halves are placed and joined right; flatten is forgotten, and the last layer raises.
# price: 0.7
# truth: The pooled activation of shape (N, 2048, 1, 1) goes into fc unflattened, which raises RuntimeError.

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        for part in (self.conv1, self.bn1, self.layer1, self.layer2):
            part.to("cuda:0")
        for part in (self.layer3, self.layer4, self.fc):
            part.to("cuda:1")
        self.seq1 = nn.Sequential(
            self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2
        )
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool)

    def forward(self, x):
        x = self.seq1(x)
        x = self.seq2(x.to("cuda:1"))
        return self.fc(x)

# %% resnet_cut_after_layer1
# taking: A network over two GPUs with right numbers and one move; it is cut at another place than the docstring says.
# price: 0.75
# truth: layer2 is on cuda:1 instead of cuda:0.

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        self.seq1 = nn.Sequential(
            self.conv1,
            self.bn1,
            self.relu,
            self.maxpool,
            self.layer1,
        ).to("cuda:0")
        self.seq2 = nn.Sequential(
            self.layer2,
            self.layer3,
            self.layer4,
            self.avgpool,
        ).to("cuda:1")
        self.fc = self.fc.to("cuda:1")

    def forward(self, x):
        h = self.seq2(self.seq1(x).to("cuda:1"))
        h = h.view(h.size(0), -1)
        return self.fc(h)

# %% resnet_whole_on_first_gpu_first
# taking: All numbers, places and moves are right in the end; neither GPU was to need memory for more than its part.
# price: 0.8
# truth: The whole network is put on cuda:0 before its second part goes to cuda:1.

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        self.to("cuda:0")
        self.layer3.to("cuda:1")
        self.layer4.to("cuda:1")
        self.fc.to("cuda:1")
        self.seq1 = nn.Sequential(
            self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2
        )
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool)

    def forward(self, x):
        x = self.seq1(x)
        x = x.to("cuda:1")
        x = torch.flatten(self.seq2(x), 1)
        return self.fc(x)

# %% average_of_unequal_parts
# taking: Copies on each device and gradients brought together right; the weights of unequal parts are the catch, and they are missed.
# price: 0.7
# truth: Gradients and losses of the parts are averaged without the parts' sizes.

def average_gradients(model, loss_fn, inputs, labels, devices):
    xs = inputs.chunk(len(devices))
    ys = labels.chunk(len(devices))
    copies, losses = [], []
    for x, y, dev in zip(xs, ys, devices):
        m = copy.deepcopy(model).to(dev)
        m.zero_grad()
        l = loss_fn(m(x.to(dev)), y.to(dev))
        l.backward()
        copies.append(m)
        losses.append(l)
    n = len(copies)
    for ps in zip(model.parameters(), *[m.parameters() for m in copies]):
        own, others = ps[0], ps[1:]
        own.grad = sum(o.grad.to(own.device) for o in others) / n
    return sum(l.item() for l in losses) / n

# %% average_on_one_device
# taking: Right gradients, loss and type; that each device works on its part is half of the points, and nothing of it is there.
# price: 0.45
# truth: The whole batch is computed on the first device alone.

def average_gradients(model, loss_fn, inputs, labels, devices):
    first = devices[0]
    model.zero_grad()
    loss = loss_fn(model(inputs.to(first)), labels.to(first))
    loss.backward()
    return loss.item()

# %% average_a_part_for_each_device
# taking: Weighted right and spread over the devices; the small batch and the old gradients, both in the docstring, are missed.
# price: 0.65
# truth: It asks for as many parts as there are devices, which raises IndexError if there are fewer, and adds to old gradients.

def average_gradients(model, loss_fn, inputs, labels, devices):
    k = len(devices)
    parts_x, parts_y = torch.chunk(inputs, k), torch.chunk(labels, k)
    total = len(inputs)
    replicas = [copy.deepcopy(model).to(d) for d in devices]
    losses = []
    for i in range(k):
        replicas[i].zero_grad()
        x = parts_x[i].to(devices[i])
        y = parts_y[i].to(devices[i])
        loss = loss_fn(replicas[i](x), y) * (len(x) / total)
        loss.backward()
        losses.append(loss)
    for r in replicas:
        for p, q in zip(model.parameters(), r.parameters()):
            g = q.grad.to(devices[0])
            p.grad = g if p.grad is None else p.grad + g
    return sum(l.item() for l in losses)

# %% data_parallel_left_on_cpu
# taking: The right class, and half of what there is to do; the model has to be on cuda:0 first, and a call raises.
# price: 0.5
# truth: The model is not moved to cuda:0, so that a call of DataParallel raises RuntimeError.

def to_data_parallel(model):
    gpus = list(range(torch.cuda.device_count()))
    return nn.DataParallel(model, device_ids=gpus, output_device=0)

# %% pool_unordered_left_open
# taking: A pool with the right number of processes; results in any order and a pool left open are two of the three things asked.
# price: 0.45
# truth: imap_unordered gives results as they are done, and the pool is never closed.

def pool_map(f, xs, processes=5):
    pool = Pool(processes=processes)
    results = []
    for r in pool.imap_unordered(f, xs):
        results.append(r)
    return results

# %% pool_that_is_a_comprehension
# taking: The list is right, but the question is about processes, and there are none.
# price: 0.15
# truth: It applies f one after the other in the calling process.

def pool_map(f, xs, processes=5):
    return [f(x) for x in xs]

# %% ddp_same_order_each_epoch
# taking: Sampler, wrapper, training and leaving the group are right; another order in each epoch is asked for and forgotten.
# price: 0.85
# truth: set_epoch is never called, so that every epoch has the same order.

def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group(backend="gloo", rank=rank, world_size=world_size)
    ddp = DistributedDataParallel(model)
    sgd = torch.optim.SGD(ddp.parameters(), lr=lr)
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    for _ in range(epochs):
        for x, y in loader:
            sgd.zero_grad()
            loss = loss_fn(ddp(x), y)
            loss.backward()
            sgd.step()
    distributed.destroy_process_group()

# %% ddp_sampler_and_shuffle
# taking: All parts of a right worker are there; shuffle beside a sampler is refused, one word too many, and it does not run.
# price: 0.7
# truth: DataLoader is given a sampler and shuffle=True, which raises ValueError.

def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    model = DistributedDataParallel(model)
    sampler = DistributedSampler(dataset, world_size, rank, shuffle=True)
    loader = DataLoader(dataset, batch_size=batch_size, shuffle=True, sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            outputs = model(inputs)
            loss = loss_fn(outputs, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    distributed.destroy_process_group()

# %% ddp_each_on_its_own
# taking: Joins the group and shares the data out by the sampler; gradients are never averaged, the main thing, and the group stays.
# price: 0.4
# truth: The model is not wrapped in DistributedDataParallel, so that each process trains its own, and the group is not left.

def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    loader = DataLoader(dataset, batch_size, sampler=sampler)
    opt = torch.optim.SGD(model.parameters(), lr)
    model.train()
    for ep in range(epochs):
        sampler.set_epoch(ep)
        for xb, yb in loader:
            opt.zero_grad()
            loss_fn(model(xb), yb).backward()
            opt.step()

# %% pipeline_part_after_part
# taking: Parts, order and numbers are right; that both GPUs work at once is what a pipeline is, and this order prevents it.
# price: 0.6
# truth: Each part goes through both GPUs, and is waited for, before the next begins, so that nothing overlaps.

class PipelineParallelResNet50(ModelParallelResNet50):
    def forward(self, x):
        outs = []
        for part in torch.split(x, self.split_size):
            y = super().forward(part)
            torch.cuda.synchronize("cuda:1")
            outs.append(y)
        return torch.cat(outs, dim=0)

# %% pipeline_last_part_lost
# taking: The interleaving, the hard part, is right; what is still in the pipe at the end is forgotten.
# price: 0.65
# truth: The last part never goes through the second GPU, so that its scores are missing; with one part torch.cat raises.

class PipelineParallelResNet50(ModelParallelResNet50):
    def forward(self, x):
        splits = iter(x.split(self.split_size, dim=0))
        s_next = next(splits)
        s_prev = self.seq1(s_next).to("cuda:1")
        ret = []
        for s_next in splits:
            s_prev = self.seq2(s_prev)
            ret.append(self.fc(s_prev.view(s_prev.size(0), -1)))
            s_prev = self.seq1(s_next).to("cuda:1")
        return torch.cat(ret)

# %% pipeline_only_inherits
# taking: The class gives right scores because another does; no part, no pipeline, nothing was written.
# price: 0.1
# truth: forward calls the parent's with the whole batch.

class PipelineParallelResNet50(ModelParallelResNet50):
    def forward(self, x):
        return super().forward(x)

# %% time_of_asking
# taking: First call, repeats, mean and deviation are right; the clock is read while the GPUs still work, the lesson of the question.
# price: 0.6
# truth: Nothing waits for the GPUs before the clock is read.

def time_training(model_fn, repeats=10):
    net = model_fn()
    train(net)  # warm up
    seconds = np.zeros(repeats)
    for i in range(repeats):
        t0 = time.perf_counter()
        train(net)
        seconds[i] = time.perf_counter() - t0
    return float(seconds.mean()), float(seconds.std())

# %% plot_without_names
# taking: Bars and error bars are right and saved; what each bar is cannot be read, nor what is measured.
# price: 0.7
# truth: The labels are not written below the bars, and the axis says nothing.

def plot_times(means, stds, labels, path):
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots(figsize=(6, 4))
    ax.bar(np.arange(len(means)), means, yerr=stds, capsize=8)
    fig.savefig(path)
    plt.close(fig)

# %% best_size_of_ties_and_repeats
# taking: The sweep and the record of timings are right; of equal means it takes the last, and repeats is dropped.
# price: 0.7
# truth: With <= the last of equal candidates wins, and repeats is not handed on to time_training.

def best_split_size(candidates, repeats=10):
    results = {}
    best, best_mean = None, float("inf")
    for size in candidates:
        mean, std = time_training(lambda: PipelineParallelResNet50(split_size=size))
        results[size] = (mean, std)
        if mean <= best_mean:
            best, best_mean = size, mean
    return best, results
