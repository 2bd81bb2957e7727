# Wrong ways to write PipelineParallelResNet50. docs/authoring.md explains the cells.
# right: ModelParallelResNet50

from resnet import Bottleneck, ResNet
import torch
from torch import nn


# %% pipeline_begins_on_the_cpu
# The first layers stay on the CPU, where a fifth of the work is done.
# right: none
# expect:
#   questions:
#     PipelineParallelResNet50: {status: partial, checks: {outputs: ok, splits: ok, again: ok, again_in_training: ok, placed: wrong_device, on_gpus: ran_elsewhere, overlaps: requirement_not_met, overlaps_in_training: requirement_not_met}}

class PipelineParallelResNet50(ResNet):
    def __init__(self, split_size=20):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        self.stem = nn.Sequential(self.conv1, self.bn1, self.relu, self.maxpool, self.layer1)
        self.layer2.to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")
        self.split_size = split_size

    def forward(self, x):
        scores = []
        for part in x.split(self.split_size):
            hidden = self.layer2(self.stem(part.cpu()).to("cuda:0")).to("cuda:1")
            scores.append(self.fc(self.seq2(hidden).flatten(1)))
        return torch.cat(scores)


# %% pipeline_computes_twice
# Overlaps, but does each split three times.
# expect:
#   questions:
#     PipelineParallelResNet50: {status: partial, checks: {outputs: ok, splits: ok, placed: ok, moves: ok, nothing_comes_back: ok, overlaps: not_overlapped, overlaps_in_training: ok}}

class PipelineParallelResNet50(ModelParallelResNet50):
    def __init__(self, split_size=20):
        super().__init__()
        self.split_size = split_size

    def forward(self, x):
        scores = []
        for part in x.split(self.split_size):
            with torch.no_grad():
                for _ in range(2):
                    self.fc(self.seq2(self.seq1(part).to("cuda:1")).flatten(1))
            scores.append(self.fc(self.seq2(self.seq1(part).to("cuda:1")).flatten(1)))
        return torch.cat(scores)


# %% pipeline_eval_in_training
# Runs in eval mode whatever was asked for, so that the splits give what the whole batch would:
# batch normalisation learns nothing.
# expect:
#   questions:
#     PipelineParallelResNet50: {status: partial, checks: {outputs: ok, splits: wrong_value, placed: ok, moves: ok, nothing_comes_back: ok, overlaps: requirement_not_met, overlaps_in_training: requirement_not_met}}

class PipelineParallelResNet50(ModelParallelResNet50):
    def __init__(self, split_size=20):
        super().__init__()
        self.split_size = split_size

    def forward(self, x):
        self.eval()
        return torch.cat([
            self.fc(self.seq2(self.seq1(part).to("cuda:1")).flatten(1))
            for part in x.split(self.split_size)
        ])


# %% pipeline_last_part_dropped
# Cuts as many whole splits as there are: of a batch that is no multiple the rest is gone, and of
# one that is smaller than a split everything.
# expect:
#   questions:
#     PipelineParallelResNet50: {status: failed, checks: {outputs: wrong_shape, splits: requirement_not_met, placed: requirement_not_met, moves: requirement_not_met, nothing_comes_back: requirement_not_met, overlaps: requirement_not_met, overlaps_in_training: requirement_not_met}}

class PipelineParallelResNet50(ModelParallelResNet50):
    def __init__(self, split_size=20):
        super().__init__()
        self.split_size = split_size

    def forward(self, x):
        scores = [torch.zeros(0, 1000, device="cuda:1")]
        for start in range(0, len(x) - self.split_size + 1, self.split_size):
            hidden = self.seq1(x[start : start + self.split_size]).to("cuda:1")
            scores.append(self.fc(self.seq2(hidden).flatten(1)))
        return torch.cat(scores)


# %% pipeline_layer3_on_the_first
# Leaves the third group of layers on the first GPU, which then has most of the work.
# expect:
#   questions:
#     PipelineParallelResNet50: {status: partial, checks: {outputs: ok, splits: ok, placed: wrong_device}}

class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2, self.layer3)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        return self.fc(self.seq2(self.seq1(x).to("cuda:1")).flatten(1))


class PipelineParallelResNet50(ModelParallelResNet50):
    def __init__(self, split_size=20):
        super().__init__()
        self.split_size = split_size

    def forward(self, x):
        scores = []
        for part in x.split(self.split_size):
            hidden = self.seq1(part).to("cuda:1")
            scores.append(self.fc(self.seq2(hidden).flatten(1)))
        return torch.cat(scores)


# %% pipeline_not_cut
# No pipeline at all.
# expect:
#   questions:
#     PipelineParallelResNet50: {status: partial, checks: {outputs: ok, splits: wrong_value, placed: ok, moves: ok, nothing_comes_back: ok, overlaps: requirement_not_met, overlaps_in_training: requirement_not_met}}

class PipelineParallelResNet50(ModelParallelResNet50):
    def __init__(self, split_size=20):
        super().__init__()
        self.split_size = split_size

    def forward(self, x):
        return super().forward(x)


# %% pipeline_only_whole_splits
# Takes a batch for a number of splits of equal size: fails where it is none, or smaller than one.
# expect:
#   questions:
#     PipelineParallelResNet50: {status: failed, code: raised}

class PipelineParallelResNet50(ModelParallelResNet50):
    def __init__(self, split_size=20):
        super().__init__()
        self.split_size = split_size

    def forward(self, x):
        parts = x.view(len(x) // self.split_size, self.split_size, *x.shape[1:])
        return torch.cat([self.fc(self.seq2(self.seq1(part).to("cuda:1")).flatten(1)) for part in parts])


# %% pipeline_order_reversed
# The splits come back in reverse order.
# expect:
#   questions:
#     PipelineParallelResNet50: {status: failed, checks: {outputs: wrong_value, splits: requirement_not_met, placed: requirement_not_met, moves: requirement_not_met, nothing_comes_back: requirement_not_met, overlaps: requirement_not_met, overlaps_in_training: requirement_not_met}}

class PipelineParallelResNet50(ModelParallelResNet50):
    def __init__(self, split_size=20):
        super().__init__()
        self.split_size = split_size

    def forward(self, x):
        scores = []
        for part in x.split(self.split_size):
            scores.insert(0, self.fc(self.seq2(self.seq1(part).to("cuda:1")).flatten(1)))
        return torch.cat(scores)


# %% pipeline_ping_pong
# Sends the scores of each split back to the first GPU, which cannot begin the next one before.
# expect:
#   questions:
#     PipelineParallelResNet50: {status: partial, checks: {outputs: ok, splits: ok, placed: ok, moves: wrong_transfers, nothing_comes_back: wrong_transfers, overlaps: not_overlapped, overlaps_in_training: not_overlapped}}

class PipelineParallelResNet50(ModelParallelResNet50):
    def __init__(self, split_size=20):
        super().__init__()
        self.split_size = split_size

    def forward(self, x):
        scores = []
        for part in x.split(self.split_size):
            hidden = self.seq1(part).to("cuda:1")
            scores.append(self.fc(self.seq2(hidden).flatten(1)).to("cuda:0"))
        return torch.cat(scores).to("cuda:1")


# %% pipeline_reads_each_split
# Reads a number of each split's scores, and so waits for them.
# expect:
#   questions:
#     PipelineParallelResNet50: {status: partial, checks: {outputs: ok, splits: ok, placed: ok, moves: ok, nothing_comes_back: ok, overlaps: not_overlapped, overlaps_in_training: ok}}

class PipelineParallelResNet50(ModelParallelResNet50):
    def __init__(self, split_size=20):
        super().__init__()
        self.split_size = split_size

    def forward(self, x):
        scores, greatest = [], float("-inf")
        for part in x.split(self.split_size):
            hidden = self.seq1(part).to("cuda:1")
            scores.append(self.fc(self.seq2(hidden).flatten(1)))
            greatest = max(greatest, scores[-1].detach().max().item())
        return torch.cat(scores)


# %% pipeline_scores_on_the_cpu
# A right pipeline whose scores are brought back to the CPU.
# expect:
#   questions:
#     PipelineParallelResNet50: {status: partial, checks: {outputs: ok, splits: ok, placed: wrong_device, moves: ok, nothing_comes_back: wrong_transfers}}

class PipelineParallelResNet50(ModelParallelResNet50):
    def __init__(self, split_size=20):
        super().__init__()
        self.split_size = split_size

    def forward(self, x):
        scores = []
        for part in x.split(self.split_size):
            hidden = self.seq1(part).to("cuda:1")
            scores.append(self.fc(self.seq2(hidden).flatten(1)))
        return torch.cat(scores).cpu()


# %% pipeline_second_stage_deferred
# The first GPU does all splits before the second one is given any: its copies come first in its
# order of work.
# expect:
#   questions:
#     PipelineParallelResNet50: {status: partial, checks: {outputs: ok, splits: ok, placed: ok, moves: ok, nothing_comes_back: ok, overlaps: not_overlapped, overlaps_in_training: not_overlapped}}

class PipelineParallelResNet50(ModelParallelResNet50):
    def __init__(self, split_size=20):
        super().__init__()
        self.split_size = split_size

    def forward(self, x):
        hidden = [self.seq1(part).to("cuda:1") for part in x.split(self.split_size)]
        return torch.cat([self.fc(self.seq2(part).flatten(1)) for part in hidden])


# %% pipeline_split_by_numpy
# The batch is cut by NumPy, on the CPU; each part is uploaded again.
# right: none
# expect:
#   questions:
#     PipelineParallelResNet50: {status: partial, checks: {outputs: ok, splits: ok, again: not_repeated, again_in_training: not_repeated, placed: requirement_not_met, moves: requirement_not_met, nothing_comes_back: requirement_not_met, on_gpus: requirement_not_met, overlaps: requirement_not_met, overlaps_in_training: requirement_not_met}}

class PipelineParallelResNet50(ResNet):
    def __init__(self, split_size=20):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")
        self.split_size = split_size

    def forward(self, x):
        images, scores = x.cpu().numpy(), []
        for start in range(0, len(images), self.split_size):
            part = torch.from_numpy(images[start : start + self.split_size]).to("cuda:0")
            scores.append(self.fc(self.seq2(self.seq1(part).to("cuda:1")).flatten(1)))
        return torch.cat(scores)


# %% pipeline_waits_for_each_split
# A pipeline that waits for the second GPU after each split: one after the other in disguise. What
# autograd makes of it overlaps all the same.
# expect:
#   questions:
#     PipelineParallelResNet50: {status: partial, checks: {outputs: ok, splits: ok, placed: ok, moves: ok, nothing_comes_back: ok, overlaps: not_overlapped, overlaps_in_training: ok}}

class PipelineParallelResNet50(ModelParallelResNet50):
    def __init__(self, split_size=20):
        super().__init__()
        self.split_size = split_size

    def forward(self, x):
        scores = []
        for part in x.split(self.split_size):
            hidden = self.seq1(part).to("cuda:1")
            scores.append(self.fc(self.seq2(hidden).flatten(1)))
            torch.cuda.synchronize("cuda:1")
        return torch.cat(scores)


# %% pipeline_whole_in_training
# In training the batch is not cut, so that the numbers are those of the whole network: no pipeline
# where it matters.
# expect:
#   questions:
#     PipelineParallelResNet50: {status: partial, checks: {outputs: ok, splits: wrong_value, placed: ok, moves: ok, nothing_comes_back: ok, overlaps: requirement_not_met, overlaps_in_training: requirement_not_met}}

class PipelineParallelResNet50(ModelParallelResNet50):
    def __init__(self, split_size=20):
        super().__init__()
        self.split_size = split_size

    def forward(self, x):
        parts = [x] if self.training else x.split(self.split_size)
        return torch.cat([self.fc(self.seq2(self.seq1(part).to("cuda:1")).flatten(1)) for part in parts])
