# Networks put together from slices of others, not derived from them; sums instead of weighted means;
# replicas made by torch.
# expect:
#   questions:
#     "*": {status: passed}

import torch
from torch import nn
from torch.nn.parallel import gather, parallel_apply, replicate, scatter
from torchvision import models


class ToyModel(nn.Module):
    def __init__(self):
        super(ToyModel, self).__init__()
        self.net1 = nn.Linear(10, 10).cuda(0)
        self.relu = nn.ReLU(inplace=True)
        self.net2 = nn.Linear(10, 5, device="cuda:1")

    def forward(self, x):
        if x.device != torch.device("cuda:0"):
            x = x.cuda("cuda:0")
        x = self.relu(self.net1(x))
        x = x.to(device=self.net2.weight.device)
        return self.net2(x)


def train_step(model, loss_fn, optimizer, inputs, labels):
    optimizer.zero_grad(set_to_none=True)
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to(outputs.get_device()))
    loss.backward()
    optimizer.step()
    return loss.detach().cpu().tolist()


class ModelParallelResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        parts = list(models.resnet50(num_classes=1000).children())
        self.front = nn.Sequential(*parts[:6]).to("cuda:0")
        self.back = nn.Sequential(*parts[6:9], nn.Flatten(), parts[9]).to(1)

    def forward(self, x):
        return self.back(self.front(x.to("cuda:0")).to("cuda:1"))


def average_gradients(model, loss_fn, inputs, labels, devices):
    chunks = list(zip(inputs.chunk(len(devices)), labels.chunk(len(devices))))
    home = [torch.device(device).index for device in devices[: len(chunks)]]
    model.zero_grad(set_to_none=True)
    total = 0
    for replica, (x, y), device in zip(replicate(model, home), chunks, home):
        loss = loss_fn(replica(x.cuda(device)), y.cuda(device))
        total = total + (loss * len(x)).to(devices[0])
    (total / len(inputs)).backward()
    return (total / len(inputs)).item()


class Spread(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model.to("cuda:0")

    def forward(self, x):
        devices = list(range(torch.cuda.device_count()))
        inputs = scatter(x, devices)
        replicas = replicate(self.model, devices[: len(inputs)])
        return gather(parallel_apply(replicas, inputs), 0)


def to_data_parallel(model):
    return Spread(model)
