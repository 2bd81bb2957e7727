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

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1, self.net2 = nn.Linear(10, 10).cuda(0), nn.Linear(10, 5).cuda(1)

    def forward(self, x):
        return self.net2(self.net1(x.cuda(0)).cuda(1))


# %% toy_detached
# says: Nothing before the second layer is trained: the activation travels without its graph, as
#   by detach().
# says-ko: 둘째 층 앞은 훈련되지 않습니다. detach()처럼 그래프 없이 옮겼습니다.

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
# says-ko: 이전 걸음의 기울기가 남아 있습니다. 걸음마다 optimizer.zero_grad()를 부르세요.

def train_step(model, loss_fn, optimizer, inputs, labels):
    return stepped(model, loss_fn, optimizer, inputs, labels, zeroed=False)


# %% step_no_step
# says: The weights do not change: optimizer.step() comes after loss.backward(), with no
#   zero_grad() in between.
# says-ko: 가중치가 변하지 않습니다. loss.backward() 다음에 zero_grad() 없이 optimizer.step()을 부르세요.

def train_step(model, loss_fn, optimizer, inputs, labels):
    return stepped(model, loss_fn, optimizer, inputs, labels, steps=0)


# %% step_steps_twice
# says: There are two updates in each step; one is asked for.
# says-ko: 걸음마다 두 번 갱신합니다. 한 번이어야 합니다.

def train_step(model, loss_fn, optimizer, inputs, labels):
    return stepped(model, loss_fn, optimizer, inputs, labels, steps=2)


# %% step_loss_after_the_update
# says: This is the loss after the update; the loss before it is asked for.
# says-ko: 갱신한 뒤의 손실입니다. 갱신하기 전의 손실이어야 합니다.

def train_step(model, loss_fn, optimizer, inputs, labels):
    return stepped(model, loss_fn, optimizer, inputs, labels, loss_after=True)


# %% average_sums
# says: The gradients of the parts are added up; weigh each by the part's share of the rows.
# says-ko: 부분의 기울기를 더했습니다. 부분의 행의 비율로 가중하세요.

def average_gradients(model, loss_fn, inputs, labels, devices):
    return averaged(model, loss_fn, inputs, labels, devices, whole, right_share)


# %% average_unweighted
# says: Parts of unequal size count alike; weigh each by its share of the rows.
# says-ko: 크기가 다른 부분을 똑같이 셌습니다. 행의 비율로 가중하세요.

def average_gradients(model, loss_fn, inputs, labels, devices):
    return averaged(model, loss_fn, inputs, labels, devices, equal_share)


# %% average_loss_unweighted
# says: The loss is the plain mean of the parts' losses; weigh each by the part's share of the rows.
# says-ko: 손실이 부분 손실의 단순한 평균입니다. 행의 비율로 가중하세요.

def average_gradients(model, loss_fn, inputs, labels, devices):
    return averaged(model, loss_fn, inputs, labels, devices, right_share, equal_share)


# %% average_adds_the_losses
# says: The losses of the parts are added up; weigh each by the part's share of the rows.
# says-ko: 부분의 손실을 더했습니다. 행의 비율로 가중하세요.

def average_gradients(model, loss_fn, inputs, labels, devices):
    return averaged(model, loss_fn, inputs, labels, devices, right_share, whole)


# %% average_last_part_only
# says: The gradients are those of the last part alone, weighed by its share of the rows: add
#   those of all parts.
# says-ko: 가중한 마지막 부분의 기울기뿐입니다. 모든 부분의 기울기를 더하세요.

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

def average_gradients(model, loss_fn, inputs, labels, devices):
    old = [parameter.grad.clone() for parameter in model.parameters()]
    total = averaged(model, loss_fn, inputs, labels, devices, right_share)
    for parameter, gradient in zip(model.parameters(), old):
        parameter.grad = parameter.grad + gradient
    return total


# %% plot_without_error_bars
# says: The bars have no error bars: hand the deviations on as yerr.
# says-ko: 오차 막대가 없습니다. 표준편차를 yerr로 넘기세요.

def plot_times(means, stds, labels, path):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.bar(labels, means)
    axes.set_ylabel("seconds")
    figure.savefig(path)


# %% plot_half_the_error
# says: The error bars have half the length: yerr takes the deviations as they are.
# says-ko: 오차 막대의 길이가 절반입니다. 표준편차를 그대로 yerr에 넘기세요.

def plot_times(means, stds, labels, path):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.bar(labels, means, yerr=[0.5 * std for std in stds])
    axes.set_ylabel("seconds")
    figure.savefig(path)


# %% best_is_the_slowest
# says: This is the split size with the greatest mean time; the least is the best.
# says-ko: 평균 시간이 가장 긴 split size입니다. 가장 짧은 것이 좋습니다.

def best_split_size(candidates, repeats=10):
    times = {size: time_training(lambda: PipelineParallelResNet50(size), repeats) for size in candidates}
    return max(times, key=lambda size: times[size][0]), times
