# Known mistakes of minibatch. docs/authoring.md explains the cells.

import copy
import json
import math
import os
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import Dataset

ALWAYS, NEVER = (lambda _: True), (lambda _: False)


def trained(  # noqa: PLR0913
    net, loader, loss_fn, optimizer, epochs, device,
    *, zeroed=ALWAYS, steps=1, steps_for=ALWAYS, takes=ALWAYS, mode=True, after=None, loss_of=None,
):
    """Return what train_minibatch is asked for, or something near it.

    Args:
        zeroed: Whether gradients are set to zero for the batch with this number.
        steps: Of the optimiser for each batch.
        steps_for: Whether a batch of so many rows makes steps.
        takes: Likewise, whether it counts at all.
        mode: The net's while it is trained; None for that in which it comes.
        after: The net's afterwards; None for that in which it came.
        loss_of: Makes the number of an epoch from pairs of loss and rows.
    """  # fmt: skip
    came = net.training
    net.to(device)
    net.train(came if mode is None else mode)
    loss_of = loss_of or (lambda seen: sum(loss * rows for loss, rows in seen) / sum(rows for _, rows in seen))
    losses = []
    for _ in range(epochs):
        seen = []
        for number, (xx, yy) in enumerate(loader):
            if not takes(len(xx)):
                continue
            if zeroed(number):
                optimizer.zero_grad()
            loss = loss_fn(net(xx.to(device)), yy.to(device))
            loss.backward()
            for _ in range(steps * steps_for(len(xx))):
                optimizer.step()
            seen.append((loss.item(), len(xx)))
        losses.append(loss_of(seen))
    net.train(came if after is None else after)
    return losses


class Stopping:
    """What EarlyStopping is asked for, or something near it."""

    late = 0
    counts_all = False
    kept = staticmethod(copy.deepcopy)

    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience + self.late, min_delta
        self.best_loss, self.waited, self.state = math.inf, 0, None

    def is_better(self, loss):
        return loss < self.best_loss - self.min_delta

    def ends_at(self, loss):
        return math.isnan(loss)

    def step(self, loss, net):
        if self.ends_at(loss):
            return True
        if self.is_better(loss):
            self.best_loss = loss
            self.state = self.kept(net.state_dict())
            self.waited = self.waited if self.counts_all else 0
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, net):
        net.load_state_dict(self.state)


class Digits(Dataset):
    """What DigitDataset is asked for, or something near it."""

    pattern, scale, shape, label = "[37]/*.npy", 255, (-1,), (1,)

    def __init__(self, root):
        self.files = sorted(Path(root).glob(self.pattern))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        file = self.files[index]
        image = torch.from_numpy(np.load(file)).reshape(self.shape).float() / self.scale
        return image, torch.full(self.label, float(file.parent.name == "3"))


def predicted(net, X, batch_size, *, mode=False, after=None, say=torch.sigmoid, recording=False):
    """Return the answers to all batches, and leave the net as it came or in another mode."""
    came = net.training
    net.train(mode)
    with torch.set_grad_enabled(recording):
        parts = [say(net(xx)).detach() for xx in X.split(batch_size)]
    net.train(came if after is None else after)
    return parts


def reported(folder, metric, last=False):
    """Return pairs of a configuration and a value, of all reports or of each trial's last."""
    pairs = []
    for file in Path(folder).glob("*/result.json"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        pairs += [(line["config"], line[metric]) for line in (lines[-1:] if last else lines)]
    return [pair for pair in pairs if not math.isnan(pair[1])]


# %% dataset_not_scaled
# says: The brightnesses go up to 255; divide them by 255.
# says-ko: 밝기가 255까지입니다. 255로 나누세요.
# earns: 0.7

class DigitDataset(Digits):
    scale = 1


# %% dataset_keeps_rows
# says: Each image has the shape (28, 28); a vector of 784 numbers is asked for.
# says-ko: 그림의 shape이 (28, 28)입니다. 784개 수의 벡터여야 합니다.
# earns: 0.7

class DigitDataset(Digits):
    shape = (28, 28)


# %% dataset_label_is_number
# says: The labels have no dimension; their shape is (1,), as in torch.tensor([1.0]).
# says-ko: 레이블에 차원이 없습니다. torch.tensor([1.0])처럼 shape이 (1,)이어야 합니다.
# earns: 0.7

class DigitDataset(Digits):
    label = ()


# %% dataset_threes_only
# says: Only the threes are found; the sevens are in a folder of their own.
# says-ko: 3만 찾았습니다. 7은 다른 폴더에 있습니다.
# earns: 0.5

class DigitDataset(Digits):
    pattern = "3/*.npy"


# %% dataset_one_short
# says: The length is one too small.
# says-ko: 길이가 하나 작습니다.
# earns: 0.6

class DigitDataset(Digits):
    def __len__(self):
        return len(self.files) - 1


# %% net_no_relu
# says: There is no ReLU between the layers.
# says-ko: 층 사이에 ReLU가 없습니다.
# earns: 0.7

def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.Identity(), torch.nn.Linear(30, 1))


# %% net_sigmoid
# says: A sigmoid stands at the end; the net ends with the second linear layer.
# says-ko: 끝에 sigmoid가 있습니다. 두 번째 선형 층에서 끝나야 합니다.
# earns: 0.7

def build_net():
    layers = torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1), torch.nn.Sigmoid()
    return torch.nn.Sequential(*layers)


# %% net_no_bias
# says: The first layer has no bias.
# says-ko: 첫 층에 bias가 없습니다.
# earns: 0.7

def build_net():
    layers = torch.nn.Linear(784, 30, False), torch.nn.ReLU(), torch.nn.Linear(30, 1)
    return torch.nn.Sequential(*layers)


# %% net_half_frozen
# says: The first layer does not learn: its weights require no gradients.
# says-ko: 첫 층이 배우지 않습니다. 가중치가 기울기를 요구하지 않습니다.
# earns: 0.6

def build_net():
    first = torch.nn.Linear(784, 30)
    for weight in first.parameters():
        weight.requires_grad = False
    return torch.nn.Sequential(first, torch.nn.ReLU(), torch.nn.Linear(30, 1))


# %% train_no_zero_grad
# says: The gradients of earlier batches are still there: call optimizer.zero_grad() for every
#   batch.
# says-ko: 이전 배치의 기울기가 남아 있습니다. 배치마다 optimizer.zero_grad()를 부르세요.
# earns: 0.6

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    return trained(net, loader, loss_fn, optimizer, epochs, device, zeroed=NEVER)


# %% train_zero_grad_once_an_epoch
# says: The gradients are set to zero once an epoch; it is to be done for every batch.
# says-ko: 기울기를 에폭마다 한 번만 0으로 만들었습니다. 배치마다 해야 합니다.
# earns: 0.6

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    return trained(net, loader, loss_fn, optimizer, epochs, device, zeroed=lambda number: not number)


# %% train_zero_grad_too_late
# says: The weights do not change: optimizer.step() comes after loss.backward(), with no
#   zero_grad() in between.
# says-ko: 가중치가 변하지 않습니다. loss.backward() 다음에 zero_grad() 없이 optimizer.step()을 부르세요.

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    return trained(net, loader, loss_fn, optimizer, epochs, device, steps=0)


# %% train_mean_over_batches
# says: Each loss is the mean over batches; weigh each by its number of rows, for the last one
#   may have fewer.
# says-ko: 배치에 대한 평균입니다. 마지막 배치의 행이 적을 수 있으니 행의 수로 가중하세요.
# earns: 0.7

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    def mean(seen):
        return sum(loss for loss, _ in seen) / len(seen)

    return trained(net, loader, loss_fn, optimizer, epochs, device, loss_of=mean)


# %% train_sum_of_losses
# says: Each loss is the sum over all rows; divide it by their number.
# says-ko: 모든 행에 대한 합입니다. 행의 수로 나누세요.
# earns: 0.7

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    def total(seen):
        return sum(loss * rows for loss, rows in seen)

    return trained(net, loader, loss_fn, optimizer, epochs, device, loss_of=total)


# %% train_last_loss
# says: Each loss is that of an epoch's last batch; the mean over all rows is asked for.
# says-ko: 에폭의 마지막 배치의 손실입니다. 모든 행에 대한 평균이어야 합니다.
# earns: 0.6

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    return trained(net, loader, loss_fn, optimizer, epochs, device, loss_of=lambda seen: seen[-1][0])


# %% train_full_loader_batch_size
# says: Every batch counts with the loader's batch size; the last one has fewer rows: len(xx).
# says-ko: 모든 배치를 loader의 배치 크기로 셌습니다. 마지막 배치는 행이 적습니다: len(xx).
# earns: 0.7

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    def mean(seen):
        return sum(loss for loss, _ in seen) * loader.batch_size / sum(rows for _, rows in seen)

    return trained(net, loader, loss_fn, optimizer, epochs, device, loss_of=mean)


# %% train_one_epoch
# says: There is one epoch, whatever epochs says.
# says-ko: epochs와 상관없이 한 에폭입니다.
# earns: 0.5

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    return trained(net, loader, loss_fn, optimizer, 1, device)


# %% train_step_twice
# says: Each batch makes two steps; one is asked for.
# says-ko: 배치마다 두 단계입니다. 한 단계여야 합니다.
# earns: 0.6

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    return trained(net, loader, loss_fn, optimizer, epochs, device, steps=2)


# %% train_step_outside
# says: There is one step an epoch, with the gradient of its last batch; make one for every batch.
# says-ko: 에폭마다 마지막 배치의 기울기로 한 단계입니다. 배치마다 한 단계여야 합니다.
# earns: 0.5

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    def mean(seen):
        optimizer.step()
        return sum(loss * rows for loss, rows in seen) / sum(rows for _, rows in seen)

    return trained(net, loader, loss_fn, optimizer, epochs, device, steps=0, loss_of=mean)


# %% train_step_skipped
# says: A last, smaller batch makes no step.
# says-ko: 더 작은 마지막 배치에서 단계가 없습니다.
# earns: 0.6

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    def is_whole(rows):
        return rows == loader.batch_size

    return trained(net, loader, loss_fn, optimizer, epochs, device, steps_for=is_whole)


# %% train_clips_rows
# says: A last, smaller batch is left out.
# says-ko: 더 작은 마지막 배치가 빠졌습니다.
# earns: 0.6

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    def is_whole(rows):
        return rows == loader.batch_size

    return trained(net, loader, loss_fn, optimizer, epochs, device, takes=is_whole)


# %% train_swaps_arguments
# says: The arguments of the loss are swapped: loss_fn(net(xx), yy).
# says-ko: 손실 함수의 인자가 바뀌었습니다: loss_fn(net(xx), yy).
# earns: 0.6

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    return trained(net, loader, lambda output, target: loss_fn(target, output), optimizer, epochs, device)


# %% train_ends_in_eval_mode
# says: The net is left in eval mode; leave it in the mode in which it came.
# says-ko: net이 eval 모드로 남습니다. 처음의 모드로 돌려놓으세요.
# earns: 0

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    return trained(net, loader, loss_fn, optimizer, epochs, device, after=False)


# %% train_stays_in_train_mode
# says: The net is left in train mode; leave it in the mode in which it came.
# says-ko: net이 train 모드로 남습니다. 처음의 모드로 돌려놓으세요.
# earns: 0

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    return trained(net, loader, loss_fn, optimizer, epochs, device, after=True)


# %% train_ignores_mode
# says: A net that comes in eval mode is trained in it: call net.train() first.
# says-ko: eval 모드로 온 net을 그대로 학습했습니다. 먼저 net.train()을 부르세요.
# earns: 0

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    return trained(net, loader, loss_fn, optimizer, epochs, device, mode=None)


# %% predict_last_batch
# says: Only the last batch comes back: keep the probabilities of every batch and join them.
# says-ko: 마지막 배치만 돌아옵니다. 모든 배치의 확률을 모아 이으세요.
# earns: 0.4

def predict(net, X, batch_size):
    return predicted(net, X, batch_size)[-1]


# %% predict_logits
# says: These are no probabilities: the sigmoid is missing.
# says-ko: 확률이 아닙니다. sigmoid가 빠졌습니다.
# earns: 0.6

def predict(net, X, batch_size):
    return torch.cat(predicted(net, X, batch_size, say=torch.clone))


# %% predict_labels
# says: These are labels, 0 or 1; the probabilities are asked for.
# says-ko: 0이나 1인 레이블입니다. 확률이어야 합니다.
# earns: 0.5

def predict(net, X, batch_size):
    return torch.cat(predicted(net, X, batch_size)).round()


# %% predict_flat
# says: The probabilities are a vector; a column of shape (rows, 1) is asked for.
# says-ko: 확률이 벡터입니다. shape이 (행, 1)인 열이어야 합니다.
# earns: 0.7

def predict(net, X, batch_size):
    return torch.cat(predicted(net, X, batch_size)).view(-1)


# %% predict_drops_rest
# says: The rows that are left over after the last whole batch are missing.
# says-ko: 마지막 온전한 배치 뒤에 남은 행이 없습니다.
# earns: 0.5

def predict(net, X, batch_size):
    return torch.cat([part for part in predicted(net, X, batch_size) if len(part) == batch_size])


# %% predict_train_mode
# says: The net answers in train mode: call net.eval() first.
# says-ko: net이 train 모드로 답합니다. 먼저 net.eval()을 부르세요.
# earns: 0.5

def predict(net, X, batch_size):
    return torch.cat(predicted(net, X, batch_size, mode=net.training))


# %% predict_stays_in_eval
# says: The net is left in eval mode; leave it in the mode in which it came.
# says-ko: net이 eval 모드로 남습니다. 처음의 모드로 돌려놓으세요.
# earns: 0

def predict(net, X, batch_size):
    return torch.cat(predicted(net, X, batch_size, after=False))


# %% predict_gradients
# says: The net records for gradients: call it within torch.no_grad().
# says-ko: net이 기울기를 위해 기록합니다. torch.no_grad() 안에서 부르세요.
# earns: 0

def predict(net, X, batch_size):
    return torch.cat(predicted(net, X, batch_size, recording=True))


# %% predict_at_once
# says: More than batch_size rows go through the net at once.
# says-ko: batch_size보다 많은 행이 한꺼번에 net을 지납니다.
# earns: 0

def predict(net, X, batch_size):
    return predicted(net, X, len(X))[0]


# %% full_no_zero_grad
# says: The gradients of earlier steps are still there: call optimizer.zero_grad() in every step.
# says-ko: 이전 단계의 기울기가 남아 있습니다. 단계마다 optimizer.zero_grad()를 부르세요.
# earns: 0.6

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    return trained(net, [(X, y)], loss_fn, optimizer, epochs, "cpu", zeroed=NEVER)


# %% full_loss_after_step
# says: Each loss is that after its step; the loss before the step is asked for.
# says-ko: 단계 뒤의 손실입니다. 단계 전의 손실이어야 합니다.
# earns: 0.5

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    losses = trained(net, [(X, y)], loss_fn, optimizer, epochs, "cpu")
    return [*losses[1:], loss_fn(net(X), y).item()]


# %% full_hundred
# says: Without epochs it trains for 100 epochs; 200 are asked for.
# says-ko: epochs를 주지 않으면 100 에폭을 학습합니다. 200이어야 합니다.
# earns: 0

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=100):
    return trained(net, [(X, y)], loss_fn, optimizer, epochs, "cpu")


# %% save_without_optimizer
# says: The file lacks the state of the optimiser, “optimizer_state_dict”.
# says-ko: 파일에 옵티마이저의 상태 “optimizer_state_dict”가 없습니다.
# earns: 0

def save_checkpoint(path, net, optimizer, epoch, loss):
    torch.save({"epoch": epoch, "model_state_dict": net.state_dict(), "loss": loss}, f"{path}.new")
    os.replace(f"{path}.new", path)


# %% save_parameters_only
# says: The file has the parameters without the statistics of BatchNorm: save net.state_dict().
# says-ko: 파일에 BatchNorm의 통계 없이 parameter만 있습니다. net.state_dict()를 저장하세요.
# earns: 0.4

def save_checkpoint(path, net, optimizer, epoch, loss):
    state = {name: net.state_dict()[name] for name, _ in net.named_parameters()}
    parts = {"epoch": epoch, "model_state_dict": state, "optimizer_state_dict": optimizer.state_dict(), "loss": loss}
    torch.save(parts, f"{path}.new")
    os.replace(f"{path}.new", path)


# %% save_fresh_optimizer
# says: The optimiser's state in the file is that of one that has made no step: save the one
#   that you got.
# says-ko: 파일의 옵티마이저 상태가 한 단계도 가지 않은 것입니다. 받은 옵티마이저의 상태를 저장하세요.
# earns: 0.3

def save_checkpoint(path, net, optimizer, epoch, loss):
    fresh = {**optimizer.state_dict(), "state": {}}
    parts = {"epoch": epoch, "model_state_dict": net.state_dict(), "optimizer_state_dict": fresh, "loss": loss}
    torch.save(parts, f"{path}.new")
    os.replace(f"{path}.new", path)


# %% load_next_epoch
# says: The epoch is one more than that in the file; return the one in the file.
# says-ko: 파일의 에폭보다 하나 큽니다. 파일에 있는 값을 반환하세요.
# earns: 0.5

def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    net.load_state_dict(state["model_state_dict"])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return 1 + state["epoch"], state["loss"]


# %% load_swapped
# says: Loss and epoch are swapped: return the epoch first.
# says-ko: 손실과 에폭이 바뀌었습니다. 에폭을 먼저 반환하세요.
# earns: 0.6

def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    net.load_state_dict(state["model_state_dict"])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["loss"], state["epoch"]


# %% load_without_optimizer
# says: The optimiser does not get its state from the file: optimizer.load_state_dict(...).
# says-ko: 옵티마이저가 파일의 상태를 받지 않습니다: optimizer.load_state_dict(...).
# earns: 0

def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    net.load_state_dict(state["model_state_dict"])
    return state["epoch"], state["loss"]


# %% load_net_unchanged
# says: The net does not get its state from the file: net.load_state_dict(...).
# says-ko: net이 파일의 상태를 받지 않습니다: net.load_state_dict(...).
# earns: 0

def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["epoch"], state["loss"]


# %% stopping_compares_with_last
# says: Each loss is compared with the one before; compare it with the best.
# says-ko: 바로 앞의 손실과 비교합니다. 가장 좋은 손실과 비교하세요.
# earns: 0.5

class EarlyStopping(Stopping):
    def step(self, loss, net):
        ends = super().step(loss, net)
        self.best_loss = self.best_loss if math.isnan(loss) else loss
        return ends


# %% stopping_counts_all
# says: All epochs without an improvement are counted; count those in a row, from 0 after each
#   improvement.
# says-ko: 나아지지 않은 에폭을 모두 셉니다. 나아질 때마다 0부터 다시 세세요.
# earns: 0.5

class EarlyStopping(Stopping):
    counts_all = True


# %% stopping_equal_is_better
# says: A loss that is better by exactly min_delta counts as an improvement; it must be better by
#   more.
# says-ko: 꼭 min_delta만큼 나아진 손실을 나아진 것으로 셉니다. 그보다 더 나아져야 합니다.
# earns: 0.5

class EarlyStopping(Stopping):
    def is_better(self, loss):
        return loss <= self.best_loss - self.min_delta


# %% stopping_first_weights
# says: restore brings back the first weights; those of the best epoch are asked for.
# says-ko: restore가 첫 가중치를 되돌립니다. 가장 좋은 에폭의 가중치여야 합니다.
# earns: 0.3

class EarlyStopping(Stopping):
    def kept(self, state):
        return self.state or copy.deepcopy(state)


# %% stopping_last_weights
# says: restore leaves the net as it is. A state_dict() goes on changing with its net: keep a copy.
# says-ko: restore가 net을 그대로 둡니다. state_dict()는 net과 함께 계속 바뀌므로 사본을 보관하세요.
# earns: 0.3

class EarlyStopping(Stopping):
    kept = staticmethod(dict)


# %% stopping_no_min_delta
# says: A loss that is better by less than min_delta counts as an improvement.
# says-ko: min_delta보다 적게 나아진 손실도 나아진 것으로 셉니다.
# earns: 0

class EarlyStopping(Stopping):
    def is_better(self, loss):
        return loss < self.best_loss


# %% stopping_one_early
# says: It stops after patience - 1 epochs without an improvement; patience epochs are asked for.
# says-ko: 나아지지 않은 에폭이 patience - 1번이면 멈춥니다. patience번이어야 합니다.
# earns: 0.7

class EarlyStopping(Stopping):
    late = -1


# %% stopping_one_late
# says: It stops after patience + 1 epochs without an improvement; patience epochs are asked for.
# says-ko: 나아지지 않은 에폭이 patience + 1번이면 멈춥니다. patience번이어야 합니다.
# earns: 0.7

class EarlyStopping(Stopping):
    late = 1


# %% stopping_waits_for_nan
# says: A loss of NaN does not end the training; stop at once.
# says-ko: 손실이 NaN인데도 학습이 끝나지 않습니다. 바로 멈추세요.
# earns: 0

class EarlyStopping(Stopping):
    def ends_at(self, loss):
        return False


# %% freeze_flags_only
# says: The statistics of the backbone's BatchNorm still move: put the backbone into eval mode.
# says-ko: backbone의 BatchNorm 통계가 계속 변합니다. backbone을 eval 모드로 두세요.
# earns: 0

def freeze_backbone(model, head):
    model.requires_grad_(False)
    head.requires_grad_(True)
    return list(head.parameters())


# %% freeze_eval_head
# says: The head is in eval mode, too; it is to train.
# says-ko: head도 eval 모드입니다. head는 train 모드여야 합니다.
# earns: 0

def freeze_backbone(model, head):
    model.requires_grad_(False)
    head.requires_grad_(True)
    model.eval()
    return list(head.parameters())


# %% freeze_head_stays_frozen
# says: A part of the head that came frozen still is: set requires_grad for all of the head.
# says-ko: 얼어 있던 head의 부분이 그대로입니다. head 전체의 requires_grad를 켜세요.
# earns: 0.4

def freeze_backbone(model, head):
    frozen = [weight for weight in head.parameters() if not weight.requires_grad]
    model.requires_grad_(False)
    head.requires_grad_(True)
    for weight in frozen:
        weight.requires_grad_(False)
    model.eval()
    head.train()
    return list(head.parameters())


# %% log_from_one
# says: The steps begin with 1; the first epoch is step 0.
# says-ko: step이 1부터입니다. 첫 에폭은 step 0입니다.
# earns: 0.6

def log_training(writer, history):
    for tag, values in history.items():
        for step in range(len(values)):
            writer.add_scalar(tag, values[step], step + 1)
    writer.flush()


# %% log_last_only
# says: Only the last number of each tag is in the file.
# says-ko: tag마다 마지막 수만 파일에 있습니다.
# earns: 0.4

def log_training(writer, history):
    for tag in history:
        writer.add_scalar(tag, history[tag][-1], len(history[tag]) - 1)
    writer.flush()


# %% log_no_steps
# says: Every step is 0: hand the number of the epoch on to add_scalar.
# says-ko: 모든 step이 0입니다. 에폭 번호를 add_scalar에 넘기세요.
# earns: 0.4

def log_training(writer, history):
    for tag, values in history.items():
        for value in values:
            writer.add_scalar(tag, value, 0)
    writer.flush()


# %% log_not_flushed
# says: Nothing is in the file: log every number, and call writer.flush() at the end.
# says-ko: 파일에 아무것도 없습니다. 모든 수를 기록하고 끝에 writer.flush()를 부르세요.

def log_training(writer, history):
    for step, values in enumerate(zip(*history.values())):
        for tag, value in zip(history, values):
            writer.add_scalar(tag, value, step)


# %% trial_greatest
# says: This is the trial with the greatest value; the least is the best.
# says-ko: 값이 가장 큰 시도입니다. 가장 작은 것이 좋습니다.
# earns: 0.6

def best_trial(folder, metric):
    return max(reported(folder, metric), key=lambda pair: pair[1])


# %% trial_last_report
# says: This is the best of the last reports; every report counts.
# says-ko: 마지막 보고 가운데 가장 좋은 것입니다. 모든 보고를 보아야 합니다.
# earns: 0.6

def best_trial(folder, metric):
    return min(reported(folder, metric, last=True), key=lambda pair: pair[1])

# %% loader_never_shuffles
# says: The rows come in the same order in every epoch: hand shuffle on to DataLoader.
# says-ko: 모든 epoch에서 행의 순서가 같습니다. shuffle을 DataLoader에 넘기세요.
# earns: 0.5

def make_loader(X, y, batch_size, shuffle):
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), batch_size)


# %% loader_drops_the_last
# says: The last, smaller batch is missing: leave drop_last out.
# says-ko: 마지막 작은 배치가 없습니다. drop_last를 쓰지 마세요.
# earns: 0.6

def make_loader(X, y, batch_size, shuffle):
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), batch_size, shuffle, drop_last=True)


# %% loader_single_rows
# says: Each batch has one row: hand batch_size on.
# says-ko: 배치마다 한 행입니다. batch_size를 넘기세요.
# earns: 0.5

def make_loader(X, y, batch_size, shuffle):
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), shuffle=shuffle)


# %% loader_labels_first
# says: The pairs begin with the labels; the rows come first.
# says-ko: 쌍에서 레이블이 먼저입니다. 행이 먼저여야 합니다.
# earns: 0.6

def make_loader(X, y, batch_size, shuffle):
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(y, X), batch_size, shuffle)


# %% loader_whole_set
# says: There is one batch with all rows: hand batch_size on.
# says-ko: 모든 행이 한 배치에 있습니다. batch_size를 넘기세요.
# earns: 0.4

def make_loader(X, y, batch_size, shuffle):
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), len(X), shuffle)


# %% dataset_divided_by_256
# says: The brightnesses are divided by 256; the greatest is 255.
# says-ko: 밝기를 256으로 나누었습니다. 가장 큰 값은 255입니다.
# earns: 0.7

class DigitDataset(Digits):
    scale = 256


# %% dataset_keeps_a_channel
# says: Each image has the shape (1, 28, 28); a vector of 784 numbers is asked for.
# says-ko: 이미지의 shape이 (1, 28, 28)입니다. 784개 수의 벡터여야 합니다.
# earns: 0.7

class DigitDataset(Digits):
    shape = (1, 28, 28)


# %% dataset_sevens_only
# says: Only the sevens are found; the threes are in a folder of their own.
# says-ko: 7만 찾았습니다. 3은 다른 폴더에 있습니다.
# earns: 0.5

class DigitDataset(Digits):
    pattern = "7/*.npy"


# %% dataset_label_in_two_columns
# says: The labels have the shape (2,); (1,) is asked for, one number for both digits.
# says-ko: 레이블의 shape이 (2,)입니다. 두 숫자에 수 하나, (1,)이어야 합니다.
# earns: 0.6

class DigitDataset(Digits):
    label = (2,)


# %% dataset_centred
# says: The brightnesses run from -1 to 1; from 0 to 1 is asked for.
# says-ko: 밝기가 -1에서 1까지입니다. 0에서 1까지여야 합니다.
# earns: 0.7

class DigitDataset(Digits):
    def __getitem__(self, index):
        image, label = super().__getitem__(index)
        return 2 * image - 1, label


# %% net_relu_at_the_end
# says: A ReLU stands at the end, too; the net ends with the second linear layer.
# says-ko: 끝에도 ReLU가 있습니다. 둘째 선형 층으로 끝나야 합니다.
# earns: 0.6

def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1), torch.nn.ReLU())


# %% net_tanh
# says: A tanh stands between the layers; a ReLU is asked for.
# says-ko: 층 사이에 tanh가 있습니다. ReLU여야 합니다.
# earns: 0.7

def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.Tanh(), torch.nn.Linear(30, 1))


# %% net_sigmoid_between
# says: A sigmoid stands between the layers; a ReLU is asked for.
# says-ko: 층 사이에 시그모이드가 있습니다. ReLU여야 합니다.
# earns: 0.7

def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.Sigmoid(), torch.nn.Linear(30, 1))


# %% net_two_outputs
# says: There are two outputs; one is asked for.
# says-ko: 출력이 두 개입니다. 하나여야 합니다.

def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 2))


# %% train_loss_of_each_batch
# says: There is a loss for each batch; one for each epoch is asked for.
# says-ko: 배치마다 손실이 있습니다. epoch마다 하나여야 합니다.
# earns: 0.6

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    every = []

    def note(seen):
        every.extend(loss for loss, _ in seen)
        return 0.0

    trained(net, loader, loss_fn, optimizer, epochs, device, loss_of=note)
    return every


# %% train_rows_over_batches
# says: The sum over the rows is divided by the number of batches; divide it by the number of rows.
# says-ko: 행에 대한 합을 배치의 수로 나누었습니다. 행의 수로 나누세요.
# earns: 0.7

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    def mean(seen):
        return sum(loss * rows for loss, rows in seen) / len(seen)

    return trained(net, loader, loss_fn, optimizer, epochs, device, loss_of=mean)


# %% train_batches_over_rows
# says: The sum over the batches is divided by the number of rows; multiply each loss by its rows, len(xx), first.
# says-ko: 배치에 대한 합을 행의 수로 나누었습니다. 먼저 손실에 행의 수 len(xx)를 곱하세요.
# earns: 0.7

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    def mean(seen):
        return sum(loss for loss, _ in seen) / sum(rows for _, rows in seen)

    return trained(net, loader, loss_fn, optimizer, epochs, device, loss_of=mean)


# %% train_sum_of_batch_losses
# says: Each loss is the sum over the batches; the mean over the rows is asked for.
# says-ko: 손실이 배치에 대한 합입니다. 행에 대한 평균이어야 합니다.
# earns: 0.6

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    def total(seen):
        return sum(loss for loss, _ in seen)

    return trained(net, loader, loss_fn, optimizer, epochs, device, loss_of=total)


# %% train_losses_go_on
# says: Each loss holds those of the epochs before, too: set the sums to 0 when an epoch begins.
# says-ko: 앞선 epoch의 손실까지 들어 있습니다. epoch가 시작할 때 합을 0으로 하세요.
# earns: 0.6

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    every = []

    def mean(seen):
        every.extend(seen)
        return sum(loss * rows for loss, rows in every) / sum(rows for _, rows in every)

    return trained(net, loader, loss_fn, optimizer, epochs, device, loss_of=mean)


# %% train_first_loss
# says: Each loss is that of the first batch of its epoch; the mean over all rows is asked for.
# says-ko: 손실이 epoch의 첫 배치의 것입니다. 모든 행에 대한 평균이어야 합니다.
# earns: 0.6

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    return trained(net, loader, loss_fn, optimizer, epochs, device, loss_of=lambda seen: seen[0][0])


# %% train_one_epoch_more
# says: There is one epoch more than epochs.
# says-ko: epochs보다 한 epoch 더 했습니다.
# earns: 0.7

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    return trained(net, loader, loss_fn, optimizer, epochs + 1, device)


# %% train_first_batch_alone
# says: Only the first batch of each epoch trains: does a return or break stand inside the loop?
# says-ko: epoch마다 첫 배치로만 학습했습니다. 반복문 안에 return이나 break가 있나요?
# earns: 0.4

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    return trained(net, [next(iter(loader))], loss_fn, optimizer, epochs, device)


# %% train_returns_the_last_loss
# says: This is the loss of the last epoch alone; a list with that of each epoch is asked for.
# says-ko: 마지막 epoch의 손실뿐입니다. epoch마다의 손실 목록이어야 합니다.
# earns: 0.5

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    return trained(net, loader, loss_fn, optimizer, epochs, device)[-1]


# %% predict_softmax
# says: These are softmaxes, which are 1 for a single output; the sigmoid is asked for.
# says-ko: softmax라서 출력이 하나이면 언제나 1입니다. 시그모이드여야 합니다.
# earns: 0.6

def predict(net, X, batch_size):
    return torch.cat(predicted(net, X, batch_size, say=lambda out: out.softmax(dim=1)))


# %% predict_sigmoid_twice
# says: The sigmoid is taken twice; once is enough.
# says-ko: 시그모이드를 두 번 구했습니다. 한 번이면 됩니다.
# earns: 0.6

def predict(net, X, batch_size):
    return torch.cat(predicted(net, X, batch_size, say=lambda out: out.sigmoid().sigmoid()))


# %% predict_the_other_class
# says: These are the probabilities of the other class, 1 - p.
# says-ko: 다른 클래스의 확률 1 - p입니다.
# earns: 0.6

def predict(net, X, batch_size):
    return torch.cat(predicted(net, X, batch_size, say=lambda out: (-out).sigmoid()))


# %% predict_in_a_list
# says: The batches come in a list: torch.cat joins them.
# says-ko: 배치가 목록으로 돌아왔습니다. torch.cat으로 이으세요.
# earns: 0.7

def predict(net, X, batch_size):
    return predicted(net, X, batch_size)


# %% predict_first_batch
# says: Only the first batch comes back: does a return stand inside the loop?
# says-ko: 첫 배치만 돌아왔습니다. 반복문 안에 return이 있나요?
# earns: 0.4

def predict(net, X, batch_size):
    return predicted(net, X, batch_size)[0]


# %% full_no_weight_changes
# says: No weight has changed: optimizer.step() comes after loss.backward(), with no zero_grad() in between.
# says-ko: 가중치가 변하지 않았습니다. optimizer.step()은 zero_grad() 없이 loss.backward() 다음에 와야 합니다.

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    return trained(net, [(X, y)], loss_fn, optimizer, epochs, "cpu", steps=0)


# %% full_one_step_more
# says: There is one step more than epochs.
# says-ko: epochs보다 한 단계 더 했습니다.
# earns: 0.7

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    return trained(net, [(X, y)], loss_fn, optimizer, epochs + 1, "cpu")


# %% full_steps_twice
# says: There are two updates in each step; one is asked for.
# says-ko: 단계마다 두 번 갱신했습니다. 한 번이어야 합니다.
# earns: 0.6

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    return trained(net, [(X, y)], loss_fn, optimizer, epochs, "cpu", steps=2)


# %% full_last_loss_alone
# says: This is the last loss alone; a list with that of each step is asked for.
# says-ko: 마지막 손실뿐입니다. 단계마다의 손실 목록이어야 합니다.
# earns: 0.5

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    return trained(net, [(X, y)], loss_fn, optimizer, epochs, "cpu")[-1]


# %% save_without_loss
# says: The file lacks the loss.
# says-ko: 파일에 loss가 없습니다.
# earns: 0.5

def save_checkpoint(path, net, optimizer, epoch, loss):
    parts = {"epoch": epoch, "model_state_dict": net.state_dict(), "optimizer_state_dict": optimizer.state_dict()}
    torch.save(parts, f"{path}.new")
    os.replace(f"{path}.new", path)


# %% save_without_epoch
# says: The file lacks the epoch.
# says-ko: 파일에 epoch가 없습니다.
# earns: 0.5

def save_checkpoint(path, net, optimizer, epoch, loss):
    parts = {"model_state_dict": net.state_dict(), "optimizer_state_dict": optimizer.state_dict(), "loss": loss}
    torch.save(parts, f"{path}.new")
    os.replace(f"{path}.new", path)


# %% save_short_names
# says: The items of the file have other names; “epoch”, “model_state_dict”, “optimizer_state_dict” and “loss” are asked for.
# says-ko: 파일 항목의 이름이 다릅니다. “epoch”, “model_state_dict”, “optimizer_state_dict”, “loss”여야 합니다.
# earns: 0.5

def save_checkpoint(path, net, optimizer, epoch, loss):
    parts = {"epoch": epoch, "model": net.state_dict(), "optimizer": optimizer.state_dict(), "loss": loss}
    torch.save(parts, f"{path}.new")
    os.replace(f"{path}.new", path)


# %% save_states_swapped
# says: Net and optimiser are in each other's places in the file.
# says-ko: 파일에서 net과 optimizer의 자리가 바뀌었습니다.
# earns: 0.6

def save_checkpoint(path, net, optimizer, epoch, loss):
    parts = {"epoch": epoch, "model_state_dict": optimizer.state_dict(), "optimizer_state_dict": net.state_dict(), "loss": loss}
    torch.save(parts, f"{path}.new")
    os.replace(f"{path}.new", path)


# %% load_epoch_alone
# says: The epoch comes back alone; return epoch and loss.
# says-ko: epoch만 반환했습니다. epoch와 loss를 반환하세요.
# earns: 0.6

def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    net.load_state_dict(state["model_state_dict"])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    return state["epoch"]


# %% load_nothing_loaded
# says: Neither the net nor the optimiser gets its state from the file: load_state_dict(...).
# says-ko: net도 optimizer도 파일에서 상태를 받지 않았습니다: load_state_dict(...).
# earns: 0

def load_checkpoint(path, net, optimizer):
    state = torch.load(path, weights_only=True)
    return state["epoch"], state["loss"]


# %% stopping_greater_is_better
# says: A greater loss counts as an improvement; a smaller one is better.
# says-ko: 더 큰 손실을 개선으로 셌습니다. 더 작은 것이 좋습니다.
# earns: 0.5

class EarlyStopping(Stopping):
    def is_better(self, loss):
        return math.isinf(self.best_loss) or loss > self.best_loss + self.min_delta


# %% stopping_as_great_is_better
# says: A greater loss counts as an improvement; a smaller one is better.
# says-ko: 더 큰 손실을 개선으로 셌습니다. 더 작은 것이 좋습니다.
# earns: 0.5

class EarlyStopping(Stopping):
    def is_better(self, loss):
        return math.isinf(self.best_loss) or loss >= self.best_loss + self.min_delta


# %% stopping_as_good_is_better
# says: A loss as good as the best counts as an improvement; it must be better by more than
#   min_delta.
# says-ko: 가장 좋은 손실과 같은 손실을 나아진 것으로 셉니다. min_delta보다 더 나아져야 합니다.

class EarlyStopping(Stopping):
    def is_better(self, loss):
        return loss <= self.best_loss


# %% stopping_never
# says: In none of these series does it say that training is to stop.
# says-ko: 어느 수열에서도 학습을 멈추라고 하지 않습니다.

class EarlyStopping(Stopping):
    def step(self, loss, net):
        super().step(loss, net)
        return False


# %% stopping_says_when_to_go_on
# says: It returns True where training is to go on; True means stop.
# says-ko: 계속해야 할 때 True를 반환했습니다. True는 멈추라는 뜻입니다.
# earns: 0.5

class EarlyStopping(Stopping):
    def step(self, loss, net):
        return not super().step(loss, net)


# %% stopping_keeps_the_newest
# says: restore brings back the weights of the last epoch; keep those of the best.
# says-ko: restore가 마지막 epoch의 가중치를 돌려놓았습니다. 가장 좋은 epoch의 것을 보관하세요.
# earns: 0.5

class EarlyStopping(Stopping):
    def step(self, loss, net):
        ends = super().step(loss, net)
        self.state = copy.deepcopy(net.state_dict())
        return ends


# %% freeze_the_head_alone
# says: The head is frozen and the backbone trains; it is the other way round.
# says-ko: 헤드를 고정하고 백본을 학습했습니다. 반대여야 합니다.
# earns: 0.3

def freeze_backbone(model, head):
    model.requires_grad_(True)
    head.requires_grad_(False)
    model.train()
    head.eval()
    return list(head.parameters())


# %% freeze_returns_all
# says: The weights of the whole model are returned; those of the head are asked for.
# says-ko: 모델 전체의 가중치를 반환했습니다. head의 가중치만 반환해야 합니다.

def freeze_backbone(model, head):
    model.requires_grad_(False)
    head.requires_grad_(True)
    model.eval()
    head.train()
    return list(model.parameters())


# %% freeze_nothing
# says: Nothing is frozen: set requires_grad of the backbone to False.
# says-ko: 아무것도 고정하지 않았습니다. 백본의 requires_grad를 False로 하세요.
# earns: 0

def freeze_backbone(model, head):
    model.requires_grad_(True)
    model.eval()
    head.train()
    return list(head.parameters())


# %% log_one_tag
# says: Everything is under the tag “loss”; each tag of history is a tag of the file.
# says-ko: 모두 “loss” 태그에 있습니다. history의 태그마다 파일의 태그여야 합니다.
# earns: 0.5

def log_training(writer, history):
    for values in history.values():
        for step, value in enumerate(values):
            writer.add_scalar("loss", value, step)
    writer.flush()


# %% log_first_tag_alone
# says: Only the first tag is in the file: does a return stand inside the loop?
# says-ko: 첫 태그만 파일에 있습니다. 반복문 안에 return이 있나요?
# earns: 0.5

def log_training(writer, history):
    tag = next(iter(history))
    for step, value in enumerate(history[tag]):
        writer.add_scalar(tag, value, step)
    writer.flush()


# %% log_steps_go_on
# says: The steps go on from tag to tag; each tag begins with step 0.
# says-ko: 단계 번호가 태그를 넘어 이어집니다. 태그마다 0에서 시작해야 합니다.
# earns: 0.6

def log_training(writer, history):
    step = 0
    for tag, values in history.items():
        for value in values:
            writer.add_scalar(tag, value, step)
            step += 1
    writer.flush()


# %% log_first_epoch_missing
# says: The first epoch is missing.
# says-ko: 첫 epoch가 없습니다.
# earns: 0.6

def log_training(writer, history):
    for tag, values in history.items():
        for step, value in list(enumerate(values))[1:]:
            writer.add_scalar(tag, value, step)
    writer.flush()


# %% trial_first_report
# says: This is the best of the first reports; every report counts.
# says-ko: 첫 보고들 중 가장 좋은 것입니다. 모든 보고를 세야 합니다.
# earns: 0.6

def best_trial(folder, metric):
    pairs = []
    for file in Path(folder).glob("*/result.json"):
        for text in file.read_text().splitlines()[:1]:
            line = json.loads(text)
            pairs.append((line["config"], line[metric]))
    return min((pair for pair in pairs if not math.isnan(pair[1])), key=lambda pair: pair[1])


# %% trial_swapped
# says: The value comes first and the configuration second; it is the other way round.
# says-ko: 값이 먼저, 설정이 나중입니다. 반대여야 합니다.
# earns: 0.7

def best_trial(folder, metric):
    return min(reported(folder, metric), key=lambda pair: pair[1])[::-1]


# %% trial_mean_of_reports
# says: The trials are compared by the mean of their reports; the least of any report counts.
# says-ko: 시험을 보고들의 평균으로 비교했습니다. 어느 보고든 가장 작은 값을 세야 합니다.
# earns: 0.6

def best_trial(folder, metric):
    means = []
    for file in Path(folder).glob("*/result.json"):
        lines = [json.loads(text) for text in file.read_text().splitlines()]
        values = [line[metric] for line in lines if not math.isnan(line[metric])]
        if values:
            means.append((lines[0]["config"], sum(values) / len(values)))
    return min(means, key=lambda pair: pair[1])
