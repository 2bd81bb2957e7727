# The second part, each function in another way than the reference's: torch.chunk, timeit with fresh
# models, bars and error bars by pyplot, a sort.
# expect:
#   questions:
#     "*": {status: passed}

import torch
from resnet import Bottleneck, ResNet
from torch import nn
import timeit
import numpy as np
import matplotlib.pyplot as plt


class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        return self.fc(self.seq2(self.seq1(x).to("cuda:1")).flatten(1))


class PipelineParallelResNet50(ModelParallelResNet50):
    def __init__(self, split_size=20):
        super().__init__()
        self.split_size = split_size

    def forward(self, x):
        parts = x.chunk(-(-len(x) // self.split_size))
        return torch.cat([self.fc(self.seq2(self.seq1(part).to("cuda:1")).flatten(1)) for part in parts])


def wait():
    for device in range(torch.cuda.device_count()):
        torch.cuda.synchronize(device)


def run(model):
    train(model)
    wait()


def time_training(model_fn, repeats=10):
    run(model_fn())
    names = {**globals(), "model_fn": model_fn}
    setup = "model = model_fn(); wait()"
    times = timeit.repeat("run(model)", setup, number=1, repeat=repeats, globals=names)
    return np.mean(times), np.std(times)


def plot_times(means, stds, labels, path):
    plt.figure()
    places = list(range(len(means)))
    plt.bar(places, means)
    plt.errorbar(places, means, yerr=stds, fmt="none", capsize=5)
    plt.xticks(places, labels)
    plt.ylabel("Execution time (s)")
    plt.savefig(path)
    plt.close()


def best_split_size(candidates, repeats=10):
    times = {size: time_training(lambda: PipelineParallelResNet50(size), repeats) for size in candidates}
    return sorted(candidates, key=lambda size: times[size][0])[0], times
