# SPDX-License-Identifier: MIT
"""The training loop of DFTracer's own AI example, without any library: 3 epochs of 2 files.

    ai_logging.py [--epoch-as-metadata] [--disable CATEGORY ...]
"""

import sys

from dftracer.python import ai, dftracer

EPOCHS, FILES = 3, 2


class Dataset:
    @ai.data.item
    def __getitem__(self, index):
        return [index] * 8


@ai.dataloader.fetch
def read_batches(dataset):
    for index in range(FILES):
        yield dataset[index]


@ai.data.preprocess.derive("collate")
def collate(batch):
    return list(batch)


@ai.device.transfer
def transfer(batch):
    return batch


@ai.compute.forward
def forward(batch):
    return sum(batch)


@ai.compute.backward
def backward(loss):
    return -loss


@ai.compute
def compute(batch):
    return backward(forward(batch))


class Checkpoint:
    @ai.checkpoint.init
    def __init__(self):
        self.state = 0

    @ai.checkpoint.capture
    def capture(self):
        self.state += 1

    @ai.checkpoint.restart
    def restart(self):
        return self.state


@ai.compute.step
def step(batch):
    return compute(transfer(collate(batch)))


@ai.pipeline.train
def train(as_metadata):
    checkpoint = Checkpoint()
    checkpoint.restart()
    epochs = range(EPOCHS) if as_metadata else ai.pipeline.epoch.iter(range(EPOCHS))
    for epoch in epochs:
        if as_metadata:
            ai.pipeline.epoch.start(metadata=True)
        ai.update(epoch=epoch)
        for number, batch in enumerate(ai.dataloader.fetch.iter(read_batches(Dataset()))):
            ai.update(step=number)
            step(batch)
        if as_metadata:
            ai.pipeline.epoch.stop(metadata=True)
    checkpoint.capture()


def main(arguments):
    tracer = dftracer.initialize_log()
    for category in arguments[arguments.index("--disable") + 1 :] if "--disable" in arguments else ():
        (ai if category == "all" else getattr(ai, category)).disable()
    train("--epoch-as-metadata" in arguments)
    tracer.finalize()


if __name__ == "__main__":
    main(sys.argv[1:])
