# SPDX-License-Identifier: MIT
"""Trains a small network on files, on the CPU or on a GPU: data loading, transfer, forward, backward, optimiser and
checkpoint are annotated. Needs PyTorch (1.13 or newer), and nothing else.

    train.py [--device cpu|cuda] [--epochs N] [--files N] [--workers N] [--folder DIR] [--profile] [--synchronize]
"""

import argparse
import contextlib
import os
import tempfile

import torch
from dftracer.python import ai, dftracer
from dftracer.python.torch import trace_handler

SAMPLES, FEATURES, CLASSES = 64, 256, 10


def write_files(folder, count):
    """`count` files of SAMPLES rows each, with a rule that a network can learn."""
    generator = torch.Generator().manual_seed(0)
    rule = torch.randn(FEATURES, CLASSES, generator=generator)
    for number in range(count):
        x = torch.randn(SAMPLES, FEATURES, generator=generator)
        torch.save({"x": x, "y": (x @ rule).argmax(1)}, os.path.join(folder, f"part-{number:03}.pt"))


class Files(torch.utils.data.Dataset):
    """One item is one file."""

    def __init__(self, folder):
        self.paths = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".pt"))

    def __len__(self):
        return len(self.paths)

    @ai.data.item
    def __getitem__(self, index):
        with ai.data.io.read(args={"path": self.paths[index]}):
            part = torch.load(self.paths[index])
        return self.normalise(part["x"]), part["y"]

    @staticmethod
    @ai.data.preprocess
    def normalise(x):
        return (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)


class Training:
    """A model, its optimiser, and where they run."""

    def __init__(self, device, synchronize):
        torch.manual_seed(1)
        layers = [torch.nn.Linear(FEATURES, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.ReLU()]
        self.model = torch.nn.Sequential(*layers, torch.nn.Linear(512, CLASSES)).to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)
        self.device, self.synchronize = device, synchronize

    def wait(self):
        """Kernels run behind the host; waiting for them at the end of a region makes them lie inside it."""
        if self.synchronize and self.device == "cuda":
            torch.cuda.synchronize()

    def step(self, batch):
        with ai.device.transfer:
            x, y = (part.flatten(0, 1).to(self.device, non_blocking=True) for part in batch)
            self.wait()
        with ai.compute.forward as forward:
            loss = torch.nn.functional.cross_entropy(self.model(x), y)
            forward.update(args={"rows": len(x)})
            self.wait()
        with ai.compute.backward:
            self.optimizer.zero_grad()
            loss.backward()
            self.wait()
        with ai.compute.step:
            self.optimizer.step()
            self.wait()
        return loss.detach()

    @ai.checkpoint.capture
    def save(self, path):
        with ai.checkpoint.io.write:
            torch.save(self.model.state_dict(), path)


@ai.pipeline.train
def train(training, loader, epochs, profiler):
    for epoch in ai.pipeline.epoch.iter(range(epochs)):
        ai.update(epoch=epoch)
        losses = []
        for step, batch in enumerate(ai.dataloader.fetch.iter(loader)):
            ai.update(step=step)
            losses.append(training.step(batch))
            if profiler is not None:
                profiler.step()
        print(f"epoch {epoch}: loss {torch.stack(losses).mean().item():.3f}", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", choices=["cpu", "cuda"])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--files", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", help="where the data is written; default: a temporary folder")
    parser.add_argument("--profile", action="store_true", help="with torch.profiler, whose events go into the trace")
    parser.add_argument("--synchronize", action="store_true", help="wait for the GPU at the end of each region")
    return parser.parse_args()


def main():
    options = arguments()
    dftracer.initialize_log()
    with contextlib.ExitStack() as stack:
        folder = options.folder or stack.enter_context(tempfile.TemporaryDirectory())
        write_files(folder, options.files)
        loader = torch.utils.data.DataLoader(Files(folder), batch_size=4, shuffle=True, num_workers=options.workers)
        training = Training(options.device, options.synchronize)
        profiler = None
        if options.profile:
            schedule = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
            profiler = stack.enter_context(torch.profiler.profile(schedule=schedule, on_trace_ready=trace_handler))
        train(training, loader, options.epochs, profiler)
        training.save(os.path.join(folder, "model.ckpt"))


if __name__ == "__main__":
    main()
