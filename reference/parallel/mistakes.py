# Known mistakes of parallel. docs/authoring.md explains the cells.

import copy

import torch
from torch import nn


def stepped(model, loss_fn, optimizer, inputs, labels, *, zeroed=True, steps=1, loss_after=False):
    """Return what train_step is asked for, or something near it."""
    if zeroed:
        optimizer.zero_grad()
    outputs = model(inputs)
    target = labels.to(outputs.device)
    loss = loss_fn(outputs, target)
    loss.backward()
    for _ in range(steps):
        optimizer.step()
    return (loss_fn(model(inputs), target) if loss_after else loss).item()


def averaged(model, loss_fn, inputs, labels, devices, share, share_of_loss=None):
    """Average gradients and losses by shares.

    Args:
        share: Makes a part's share from its number of rows, all rows, and the number of parts.
        share_of_loss: Likewise that of its loss.
    """
    parts = list(zip(devices, inputs.chunk(len(devices)), labels.chunk(len(devices))))
    total, sums = 0.0, [0.0 for _ in model.parameters()]
    for device, x, y in parts:
        replica = copy.deepcopy(model).to(device)
        replica.zero_grad()
        loss = loss_fn(replica(x.to(device)), y.to(device))
        loss.backward()
        sizes = len(x), len(inputs), len(parts)
        total += (share_of_loss or share)(*sizes) * loss.item()
        own = [weight.grad.to(devices[0]) for weight in replica.parameters()]
        sums = [old + share(*sizes) * new for old, new in zip(sums, own)]
    for parameter, gradient in zip(model.parameters(), sums):
        parameter.grad = gradient
    return total


def right_share(rows, of, parts):
    return rows / of


def equal_share(rows, of, parts):
    return 1 / parts


def whole(rows, of, parts):
    return 1.0


# %% toy_no_relu
# says: There is no ReLU between the two layers.
# says-ko: 두 층 사이에 ReLU가 없습니다.
# earns: 0.7

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1, self.net2 = nn.Linear(10, 10).cuda(0), nn.Linear(10, 5).cuda(1)

    def forward(self, x):
        return self.net2(self.net1(x.cuda(0)).cuda(1))


# %% toy_detached
# says: Nothing before the second layer is trained: the activation travels without its graph, as
#   by detach().
# says-ko: 둘째 층 앞은 학습되지 않습니다. detach()처럼 그래프 없이 옮겼습니다.
# earns: 0.5

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1, self.net2 = nn.Linear(10, 10).cuda(0), nn.Linear(10, 5).cuda(1)

    def forward(self, x):
        with torch.no_grad():
            hidden = self.net1(x.cuda(0)).clamp(min=0)
        return self.net2(hidden.cuda(1))


# %% step_accumulates
# says: The gradients of earlier steps are still there: call optimizer.zero_grad() in every step.
# says-ko: 이전 단계의 기울기가 남아 있습니다. 단계마다 optimizer.zero_grad()를 부르세요.
# earns: 0.6

def train_step(model, loss_fn, optimizer, inputs, labels):
    return stepped(model, loss_fn, optimizer, inputs, labels, zeroed=False)


# %% step_no_step
# says: The weights do not change: optimizer.step() comes after loss.backward(), with no
#   zero_grad() in between.
# says-ko: 가중치가 변하지 않습니다. loss.backward() 다음에 zero_grad() 없이 optimizer.step()을 부르세요.
# earns: 0.4

def train_step(model, loss_fn, optimizer, inputs, labels):
    return stepped(model, loss_fn, optimizer, inputs, labels, steps=0)


# %% step_steps_twice
# says: There are two updates in each step; one is asked for.
# says-ko: 단계마다 두 번 갱신합니다. 한 번이어야 합니다.
# earns: 0.6

def train_step(model, loss_fn, optimizer, inputs, labels):
    return stepped(model, loss_fn, optimizer, inputs, labels, steps=2)


# %% step_loss_after_the_update
# says: This is the loss after the update; the loss before it is asked for.
# says-ko: 갱신한 뒤의 손실입니다. 갱신하기 전의 손실이어야 합니다.
# earns: 0.5

def train_step(model, loss_fn, optimizer, inputs, labels):
    return stepped(model, loss_fn, optimizer, inputs, labels, loss_after=True)


# %% average_sums
# says: The gradients of the parts are added up; weigh each by the part's share of the rows.
# says-ko: 부분의 기울기를 더했습니다. 부분의 행의 비율로 가중하세요.
# earns: 0.5

def average_gradients(model, loss_fn, inputs, labels, devices):
    return averaged(model, loss_fn, inputs, labels, devices, whole, right_share)


# %% average_unweighted
# says: Parts of unequal size count alike; weigh each by its share of the rows.
# says-ko: 크기가 다른 부분을 똑같이 셌습니다. 행의 비율로 가중하세요.
# earns: 0.3

def average_gradients(model, loss_fn, inputs, labels, devices):
    return averaged(model, loss_fn, inputs, labels, devices, equal_share)


# %% average_loss_unweighted
# says: The loss is the plain mean of the parts' losses; weigh each by the part's share of the rows.
# says-ko: 손실이 부분 손실의 단순한 평균입니다. 행의 비율로 가중하세요.
# earns: 0

def average_gradients(model, loss_fn, inputs, labels, devices):
    return averaged(model, loss_fn, inputs, labels, devices, right_share, equal_share)


# %% average_adds_the_losses
# says: The losses of the parts are added up; weigh each by the part's share of the rows.
# says-ko: 부분의 손실을 더했습니다. 행의 비율로 가중하세요.
# earns: 0.5

def average_gradients(model, loss_fn, inputs, labels, devices):
    return averaged(model, loss_fn, inputs, labels, devices, right_share, whole)


# %% average_last_part_only
# says: The gradients are those of the last part alone, weighed by its share of the rows: add
#   those of all parts.
# says-ko: 가중한 마지막 부분의 기울기뿐입니다. 모든 부분의 기울기를 더하세요.
# earns: 0.4

def average_gradients(model, loss_fn, inputs, labels, devices):
    last = len(inputs.chunk(len(devices))[-1])
    total = averaged(model, loss_fn, inputs, labels, devices, right_share)
    place = len(inputs.chunk(len(devices))) - 1
    replica = copy.deepcopy(model).to(devices[place])
    replica.zero_grad()
    x, y = (part.chunk(len(devices))[-1].to(devices[place]) for part in (inputs, labels))
    loss_fn(replica(x), y).backward()
    for parameter, own in zip(model.parameters(), replica.parameters()):
        parameter.grad = last / len(inputs) * own.grad.to(devices[0])
    return total


# %% average_adds_to_old_gradients
# says: The gradients that the model had before are in the sum, too; leave them out.
# says-ko: 모델에 전부터 있던 기울기까지 더했습니다. 빼고 더하세요.
# earns: 0.5

def average_gradients(model, loss_fn, inputs, labels, devices):
    old = [parameter.grad.clone() for parameter in model.parameters()]
    total = averaged(model, loss_fn, inputs, labels, devices, right_share)
    for parameter, gradient in zip(model.parameters(), old):
        parameter.grad = parameter.grad + gradient
    return total


# %% plot_without_error_bars
# says: The bars have no error bars: hand the deviations on as yerr.
# says-ko: 오차 막대가 없습니다. 표준편차를 yerr로 넘기세요.
# earns: 0.5

def plot_times(means, stds, labels, path):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.bar(labels, means)
    axes.set_ylabel("seconds")
    figure.savefig(path)


# %% plot_half_the_error
# says: The error bars have half the length: yerr takes the deviations as they are.
# says-ko: 오차 막대의 길이가 절반입니다. 표준편차를 그대로 yerr에 넘기세요.
# earns: 0.6

def plot_times(means, stds, labels, path):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.bar(labels, means, yerr=[0.5 * std for std in stds])
    axes.set_ylabel("seconds")
    figure.savefig(path)


# %% best_is_the_slowest
# says: This is the split size with the greatest mean time; the least is the best.
# says-ko: 평균 시간이 가장 긴 split size입니다. 가장 짧은 것이 좋습니다.
# earns: 0.5

def best_split_size(candidates, repeats=10):
    times = {size: time_training(lambda: PipelineParallelResNet50(size), repeats) for size in candidates}
    return max(times, key=lambda size: times[size][0]), times

# %% toy_sigmoid
# says: A sigmoid stands between the layers; a ReLU is asked for.
# says-ko: 층 사이에 시그모이드가 있습니다. ReLU여야 합니다.
# earns: 0.7

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1, self.net2 = nn.Linear(10, 10).cuda(0), nn.Linear(10, 5).cuda(1)

    def forward(self, x):
        return self.net2(self.net1(x.cuda(0)).sigmoid().cuda(1))


# %% toy_tanh
# says: A tanh stands between the layers; a ReLU is asked for.
# says-ko: 층 사이에 tanh가 있습니다. ReLU여야 합니다.
# earns: 0.7

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1, self.net2 = nn.Linear(10, 10).cuda(0), nn.Linear(10, 5).cuda(1)

    def forward(self, x):
        return self.net2(self.net1(x.cuda(0)).tanh().cuda(1))


# %% toy_relu_at_the_end
# says: The ReLU comes after the second layer; it stands between the two.
# says-ko: ReLU가 둘째 층 뒤에 있습니다. 두 층 사이에 있어야 합니다.
# earns: 0.7

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1, self.net2 = nn.Linear(10, 10).cuda(0), nn.Linear(10, 5).cuda(1)

    def forward(self, x):
        return self.net2(self.net1(x.cuda(0)).cuda(1)).clamp(min=0)


# %% toy_two_relus
# says: A second ReLU comes after the last layer; leave it out.
# says-ko: 마지막 층 뒤에 ReLU가 하나 더 있습니다. 빼세요.
# earns: 0.7

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1, self.net2 = nn.Linear(10, 10).cuda(0), nn.Linear(10, 5).cuda(1)

    def forward(self, x):
        return self.net2(self.net1(x.cuda(0)).clamp(min=0).cuda(1)).clamp(min=0)


# %% toy_softmax
# says: A softmax stands at the end; the model ends with the second layer.
# says-ko: 끝에 softmax가 있습니다. 둘째 층으로 끝나야 합니다.
# earns: 0.7

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1, self.net2 = nn.Linear(10, 10).cuda(0), nn.Linear(10, 5).cuda(1)

    def forward(self, x):
        return self.net2(self.net1(x.cuda(0)).clamp(min=0).cuda(1)).softmax(dim=1)


# %% toy_adds_the_input
# says: The input is added to the activation; net2(relu(net1(x))) has no such sum.
# says-ko: 입력을 중간 결과에 더했습니다. net2(relu(net1(x)))에는 그런 합이 없습니다.
# earns: 0.6

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1, self.net2 = nn.Linear(10, 10).cuda(0), nn.Linear(10, 5).cuda(1)

    def forward(self, x):
        return self.net2((self.net1(x.cuda(0)).clamp(min=0) + x.cuda(0)).cuda(1))


# %% step_loss_times_the_rows
# says: The loss is multiplied by the number of rows; return it as it is.
# says-ko: 손실에 행의 수를 곱했습니다. 그대로 반환하세요.
# earns: 0.6

def train_step(model, loss_fn, optimizer, inputs, labels):
    return stepped(model, loss_fn, optimizer, inputs, labels) * len(inputs)


# %% step_loss_over_the_rows
# says: The loss is divided by the number of rows; it is a mean already.
# says-ko: 손실을 행의 수로 나누었습니다. 이미 평균입니다.
# earns: 0.6

def train_step(model, loss_fn, optimizer, inputs, labels):
    return stepped(model, loss_fn, optimizer, inputs, labels) / len(inputs)


# %% step_first_row_alone
# says: Only the first row of the batch trains.
# says-ko: 배치의 첫 행으로만 학습했습니다.
# earns: 0.3

def train_step(model, loss_fn, optimizer, inputs, labels):
    return stepped(model, loss_fn, optimizer, inputs[:1], labels[:1])


# %% step_accumulates_and_steps_twice
# says: The gradients of earlier steps are still there, and there are two updates.
# says-ko: 이전 단계의 기울기가 남아 있고 두 번 갱신했습니다.
# earns: 0.4

def train_step(model, loss_fn, optimizer, inputs, labels):
    return stepped(model, loss_fn, optimizer, inputs, labels, zeroed=False, steps=2)


# %% average_sums_both
# says: Gradients and losses of the parts are added up; weigh each by the part's share of the rows.
# says-ko: 부분들의 기울기와 손실을 더했습니다. 행의 비율로 가중하세요.
# earns: 0.5

def average_gradients(model, loss_fn, inputs, labels, devices):
    return averaged(model, loss_fn, inputs, labels, devices, whole)


# %% average_gradients_unweighted
# says: The gradients of parts of unequal size count alike; weigh each by its share of the rows.
# says-ko: 크기가 다른 부분들의 기울기를 똑같이 셌습니다. 행의 비율로 가중하세요.
# earns: 0.3

def average_gradients(model, loss_fn, inputs, labels, devices):
    return averaged(model, loss_fn, inputs, labels, devices, equal_share, right_share)


# %% average_by_number_of_devices
# says: Everything is divided by the number of devices; a small batch has fewer parts, and each counts by its share of the rows.
# says-ko: 모두 device의 수로 나누었습니다. 작은 배치는 부분이 더 적고, 각각 행의 비율로 세야 합니다.
# earns: 0.3

def average_gradients(model, loss_fn, inputs, labels, devices):
    return averaged(model, loss_fn, inputs, labels, devices, lambda rows, of, parts: 1 / len(devices))


# %% average_not_divided_by_the_rows
# says: Each part counts with its number of rows; divide by the number of all rows.
# says-ko: 부분마다 행의 수를 곱했습니다. 전체 행의 수로 나누세요.
# earns: 0.5

def average_gradients(model, loss_fn, inputs, labels, devices):
    return averaged(model, loss_fn, inputs, labels, devices, lambda rows, of, parts: float(rows))


# %% average_divided_twice
# says: The shares are divided by the number of parts once more; they add up to 1 already.
# says-ko: 비율을 부분의 수로 다시 나누었습니다. 합이 이미 1입니다.
# earns: 0.6

def average_gradients(model, loss_fn, inputs, labels, devices):
    return averaged(model, loss_fn, inputs, labels, devices, lambda rows, of, parts: rows / of / parts)


# %% average_loss_of_the_first_part
# says: The loss is that of the first part alone; that of the whole batch is asked for.
# says-ko: 첫 부분의 손실입니다. 배치 전체의 손실이어야 합니다.
# earns: 0.6

def average_gradients(model, loss_fn, inputs, labels, devices):
    turns = iter(range(len(devices)))
    return averaged(model, loss_fn, inputs, labels, devices, right_share, lambda rows, of, parts: float(next(turns) == 0))


# %% average_loss_of_the_last_part
# says: The loss is that of the last part alone; that of the whole batch is asked for.
# says-ko: 마지막 부분의 손실입니다. 배치 전체의 손실이어야 합니다.
# earns: 0.6

def average_gradients(model, loss_fn, inputs, labels, devices):
    turns = iter(range(len(devices)))
    return averaged(model, loss_fn, inputs, labels, devices, right_share, lambda rows, of, parts: float(next(turns) == parts - 1))


# %% average_half_the_gradients
# says: The gradients are half of what they should be; the loss is right.
# says-ko: 기울기가 절반입니다. 손실은 맞습니다.
# earns: 0.6

def average_gradients(model, loss_fn, inputs, labels, devices):
    return averaged(model, loss_fn, inputs, labels, devices, lambda rows, of, parts: rows / of / 2, right_share)


# %% plot_deviations_as_bars
# says: The bars are as high as the deviations; they are to be as high as the means.
# says-ko: 막대의 높이가 표준편차입니다. 평균이어야 합니다.
# earns: 0.5

def plot_times(means, stds, labels, path):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.bar(labels, stds, yerr=means)
    axes.set_ylabel("seconds")
    figure.savefig(path)


# %% plot_error_is_the_variance
# says: The error bars are squares of the deviations; yerr takes the deviations.
# says-ko: 오차 막대가 표준편차의 제곱입니다. yerr는 표준편차를 받습니다.
# earns: 0.6

def plot_times(means, stds, labels, path):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.bar(labels, means, yerr=[std**2 for std in stds])
    axes.set_ylabel("seconds")
    figure.savefig(path)


# %% plot_double_the_error
# says: The error bars have double the length: yerr takes the deviations as they are.
# says-ko: 오차 막대가 두 배입니다. yerr는 표준편차를 그대로 받습니다.
# earns: 0.6

def plot_times(means, stds, labels, path):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.bar(labels, means, yerr=[2 * std for std in stds])
    axes.set_ylabel("seconds")
    figure.savefig(path)
