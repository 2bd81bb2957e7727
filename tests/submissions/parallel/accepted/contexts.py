# Device contexts, device objects, ordinals and tensors as targets; an empty buffer that remembers a
# device; zero_grad after the step.
# expect:
#   questions:
#     "*": {status: passed}

import copy

import torch
from resnet import Bottleneck, ResNet
from torch import nn

FIRST, SECOND = torch.device("cuda", 0), torch.device("cuda:1")


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        with FIRST:
            self.net1 = nn.Linear(10, 10)
        with torch.device("cuda:1"):
            self.net2 = nn.Linear(10, 5)
        self.register_buffer("home", torch.zeros(0, device=SECOND), persistent=False)

    def forward(self, x):
        hidden = self.net1(x.to(self.net1.weight)).relu()
        return self.net2(hidden.cuda(1))


def train_step(model, loss_fn, optimizer, inputs, labels):
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to(outputs))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return float(loss.detach())


class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, (3, 4, 6, 3))
        for name, part in self.named_children():
            part.to(SECOND if name in ("layer3", "layer4", "avgpool", "fc") else FIRST)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer2(self.layer1(x)).to(SECOND, non_blocking=True)
        x = self.avgpool(self.layer4(self.layer3(x)))
        return self.fc(torch.flatten(x, 1))


def average_gradients(model, loss_fn, inputs, labels, devices):
    model.zero_grad()
    total = 0.0
    for number, device in enumerate(devices):
        x = torch.tensor_split(inputs, len(devices))[number].to(device)
        if len(x) == 0:
            continue
        y = torch.tensor_split(labels, len(devices))[number].to(device)
        replica = model if number == 0 else copy.deepcopy(model).to(device)
        if number:
            replica.zero_grad()
        loss = loss_fn(replica(x), y) * (len(x) / len(inputs))
        loss.backward()
        total += loss.item()
        if number:
            for own, other in zip(model.parameters(), replica.parameters()):
                own.grad += other.grad.to(own.device)
    return total


def to_data_parallel(model):
    return nn.DataParallel(model.cuda(), device_ids=[0, 1], output_device=0)
