# Wrong ways to write ModelParallelResNet50. docs/authoring.md explains the cells.

from resnet import Bottleneck, ResNet
import torch
from torch import nn


# %% resnet_a_copy_too_many
# cuda:0 holds a second network, which nobody uses.
# expect:
#   questions:
#     ModelParallelResNet50: {status: partial, checks: {outputs: ok, gradient: ok, placed: wrong_device, moves: ok, nothing_else_moves: ok, memory: too_much_memory}}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.other = ResNet(Bottleneck, [3, 4, 6, 3]).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        x = self.seq2(self.seq1(x).to("cuda:1"))
        return self.fc(x.view(x.size(0), -1))


# %% resnet_activation_not_moved
# The activation stays on cuda:0.
# expect:
#   questions:
#     ModelParallelResNet50: {status: failed, code: raised}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        x = self.seq2(self.seq1(x))
        return self.fc(x.view(x.size(0), -1))


# %% resnet_all_on_the_first
# The whole network is on cuda:0; only the scores travel.
# expect:
#   questions:
#     ModelParallelResNet50: {status: partial, checks: {outputs: ok, gradient: ok, placed: wrong_device, moves: wrong_transfers, nothing_else_moves: ok, memory: too_much_memory}}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:0")
        self.fc.to("cuda:0")

    def forward(self, x):
        x = self.seq2(self.seq1(x).to("cuda:0"))
        return self.fc(x.view(x.size(0), -1)).to("cuda:1")


# %% resnet_all_on_the_second
# The whole network is on cuda:1; the images travel.
# expect:
#   questions:
#     ModelParallelResNet50: {status: partial, checks: {outputs: ok, gradient: ok, placed: wrong_device, moves: wrong_transfers, nothing_else_moves: ok, memory: ok}}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:1")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        x = self.seq2(self.seq1(x.to("cuda:1")).to("cuda:1"))
        return self.fc(x.view(x.size(0), -1))


# %% resnet_batch_by_numpy
# NumPy doubles the batch and torch halves it.
# expect:
#   questions:
#     ModelParallelResNet50: {status: partial, checks: {outputs: ok, gradient: ok, again: not_repeated, on_gpus: requirement_not_met, placed: requirement_not_met, moves: requirement_not_met, no_detour: requirement_not_met, nothing_else_moves: requirement_not_met}}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        x = torch.from_numpy(x.cpu().numpy() * 2).to("cuda:0") / 2
        x = self.seq2(self.seq1(x).to("cuda:1"))
        return self.fc(x.view(x.size(0), -1))


# %% resnet_begins_on_the_cpu
# The first layers stay on the CPU, where a fifth of the work is done.
# expect:
#   questions:
#     ModelParallelResNet50: {status: partial, checks: {outputs: ok, gradient: ok, again: ok, on_gpus: ran_elsewhere, placed: requirement_not_met, moves: requirement_not_met, nothing_else_moves: requirement_not_met}}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        self.stem = nn.Sequential(self.conv1, self.bn1, self.relu, self.maxpool, self.layer1)
        self.layer2.to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        x = self.layer2(self.stem(x.cpu()).to("cuda:0"))
        x = self.seq2(x.to("cuda:1"))
        return self.fc(x.view(x.size(0), -1))


# %% resnet_bfloat16_at_the_end
# The last layer computes in bfloat16.
# expect:
#   questions:
#     ModelParallelResNet50: {status: failed, checks: {outputs: wrong_value, gradient: wrong_value, placed: requirement_not_met, moves: requirement_not_met, nothing_else_moves: requirement_not_met, memory: requirement_not_met}}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        x = self.seq2(self.seq1(x).to("cuda:1")).flatten(1)
        weight, bias = self.fc.weight.bfloat16(), self.fc.bias.bfloat16()
        return nn.functional.linear(x.bfloat16(), weight, bias).float()


# %% resnet_by_way_of_the_cpu
# What one GPU leaves goes to the other by way of the CPU.
# expect:
#   questions:
#     ModelParallelResNet50: {status: partial, checks: {outputs: ok, gradient: ok, again: ok, on_gpus: ok, placed: ok, moves: wrong_transfers, no_detour: wrong_transfers, nothing_else_moves: ok}}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        x = self.seq2(self.seq1(x).cpu().to("cuda:1"))
        return self.fc(x.view(x.size(0), -1))


# %% resnet_copies_parameters
# Parameters of the first part go to cuda:1 and back in every forward pass.
# expect:
#   questions:
#     ModelParallelResNet50: {status: partial, checks: {outputs: ok, gradient: ok, placed: ok, moves: wrong_transfers, nothing_else_moves: wrong_transfers, memory: ok}}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        self.seq1.to("cuda:1")
        self.seq1.to("cuda:0")
        x = self.seq2(self.seq1(x).to("cuda:1"))
        return self.fc(x.view(x.size(0), -1))


# %% resnet_cut_elsewhere
# layer3 stays with the first part.
# expect:
#   questions:
#     ModelParallelResNet50: {status: partial, checks: {outputs: ok, gradient: ok, placed: wrong_device, moves: wrong_transfers, nothing_else_moves: ok, memory: too_much_memory}}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool)
        self.seq1 = nn.Sequential(*first, self.layer1, self.layer2, self.layer3).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        x = self.seq2(self.seq1(x).to("cuda:1"))
        return self.fc(x.view(x.size(0), -1))


# %% resnet_detached
# The activation travels without its graph.
# expect:
#   questions:
#     ModelParallelResNet50: {status: partial, checks: {outputs: ok, gradient: wrong_type, placed: ok, moves: ok, nothing_else_moves: ok, memory: ok}}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        x = self.seq2(self.seq1(x).detach().to("cuda:1"))
        return self.fc(x.view(x.size(0), -1))


# %% resnet_fc_left_behind
# fc was not moved with the rest.
# expect:
#   questions:
#     ModelParallelResNet50: {status: partial, code: raised}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")

    def forward(self, x):
        x = self.seq2(self.seq1(x).to("cuda:1"))
        return self.fc(x.view(x.size(0), -1))


# %% resnet_fc_on_the_first
# fc is on cuda:0, and the features travel back.
# expect:
#   questions:
#     ModelParallelResNet50: {status: partial, checks: {outputs: ok, gradient: ok, placed: wrong_device, moves: ok, nothing_else_moves: ok, memory: too_much_memory}}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:0")

    def forward(self, x):
        x = self.seq2(self.seq1(x).to("cuda:1"))
        return self.fc(x.view(x.size(0), -1).to("cuda:0"))


# %% resnet_not_flattened
# fc gets what the pooling gives.
# expect:
#   questions:
#     ModelParallelResNet50: {status: partial, code: raised}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        x = self.seq2(self.seq1(x).to("cuda:1"))
        return self.fc(x)


# %% resnet_one_image_at_a_time
# Images go through one by one: as many transfers.
# expect:
#   questions:
#     ModelParallelResNet50: {status: partial, checks: {outputs: ok, gradient: ok, placed: ok, moves: wrong_transfers, nothing_else_moves: ok, memory: ok}}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        x = torch.cat([self.seq2(self.seq1(one).to("cuda:1")) for one in x.split(1)])
        return self.fc(x.view(x.size(0), -1))


# %% resnet_resnet101
# Deeper than was asked for.
# expect:
#   questions:
#     ModelParallelResNet50: {status: failed, checks: {outputs: wrong_value, gradient: wrong_value, placed: requirement_not_met, moves: requirement_not_met, nothing_else_moves: requirement_not_met, memory: requirement_not_met}}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 23, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        x = self.seq2(self.seq1(x).to("cuda:1"))
        return self.fc(x.view(x.size(0), -1))


# %% resnet_skips_layer2
# layer2 is left out: sizes do not fit.
# expect:
#   questions:
#     ModelParallelResNet50: {status: failed, code: raised}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        x = self.seq2(self.seq1(x).to("cuda:1"))
        return self.fc(x.view(x.size(0), -1))


# %% resnet_ten_classes
# Ten classes.
# expect:
#   questions:
#     ModelParallelResNet50: {status: failed, checks: {outputs: wrong_shape, gradient: wrong_value, placed: requirement_not_met, moves: requirement_not_met, nothing_else_moves: requirement_not_met, memory: requirement_not_met}}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=10)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        x = self.seq2(self.seq1(x).to("cuda:1"))
        return self.fc(x.view(x.size(0), -1))
