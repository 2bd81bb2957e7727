# As in the course notes: ToyModel with a step of training, and ModelParallelResNet50 with its own
# import of torchvision.
# expect:
#   questions:
#     "*": {status: passed}

import torch
import torch.nn as nn
import torch.optim as optim

class ToyModel(nn.Module):
    def __init__(self):
        super(ToyModel, self).__init__()
        self.net1 = torch.nn.Linear(10, 10).to('cuda:0')
        self.relu = torch.nn.ReLU()
        self.net2 = torch.nn.Linear(10, 5).to('cuda:1')
        
    def forward(self, x):
        x = self.relu(self.net1(x.to('cuda:0')))
        return self.net2(x.to('cuda:1'))


model = ToyModel()
loss_fn = nn.MSELoss()
optimizer = optim.SGD(model.parameters(), lr = 0.001)

optimizer.zero_grad()
# output은 model에 밑의 torch.randn(20, 10)이 들어가서 (20, 5)로 나온다는 것.
outputs = model(torch.randn(20, 10))

# labels은 맨 끝의 층과 같은 차원이여서 loss를 계산할 수 있음.
labels = torch.randn(20, 5).to('cuda:1')

# loss를 호출할 때 outputs과 labels는 동일한 장치에 있다.
loss_fn(outputs, labels).backward()
optimizer.step()


from torchvision.models.resnet import ResNet, Bottleneck

num_classes = 1000


class ModelParallelResNet50(ResNet):
    def __init__(self, *args, **kwargs):
        super(ModelParallelResNet50, self).__init__(
            Bottleneck, [3, 4, 6, 3], num_classes=num_classes, *args, **kwargs)

        self.seq1 = nn.Sequential(
            self.conv1,
            self.bn1,
            self.relu,
            self.maxpool,

            self.layer1,
            self.layer2
        ).to('cuda:0')

        self.seq2 = nn.Sequential(
            self.layer3,
            self.layer4,
            self.avgpool,
        ).to('cuda:1')

        self.fc.to('cuda:1')

    def forward(self, x):
        x = self.seq2(self.seq1(x).to('cuda:1'))
        return self.fc(x.view(x.size(0), -1))
