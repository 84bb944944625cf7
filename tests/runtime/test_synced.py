"""Synchronised batch norm: two processes against one with the whole batch."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, distributed, nn
from torch.multiprocessing.spawn import spawn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from bayesnas_graph import passes
from bayesnas_graph.codegen.supernet import Supernet
from bayesnas_graph.runtime import LightBatchNorm1d, LightBatchNorm2d, synchronised
from tests.helpers import body, graph

NORMS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "plain": (lambda: nn.BatchNorm2d(3), (3, 4, 5)),
    "without weights": (lambda: nn.BatchNorm2d(3, affine=False, momentum=0.3), (3, 4, 5)),
    "mean of all batches": (lambda: nn.BatchNorm2d(3, momentum=None), (3, 4, 5)),
    "nothing tracked": (lambda: nn.BatchNorm2d(3, track_running_stats=False), (3, 4, 5)),
    "light": (lambda: LightBatchNorm2d(3, momentum=0.3), (3, 4, 5)),
    "vectors": (lambda: nn.BatchNorm1d(3), (3,)),
    "sequences": (lambda: nn.BatchNorm1d(3), (3, 6)),
    "light vectors": (lambda: LightBatchNorm1d(3), (3,)),
}
SPLITS = {"equal": (4, 4), "unequal": (7, 1), "one has none": (8, 0)}
CASES = [(norm, split) for norm in NORMS for split in SPLITS]
ROWS = 8
Results = dict[str, Any]


def rows(split: str, rank: int | None) -> slice:
    """The rows of a process, or all rows for None."""
    first = SPLITS[split][0]
    return slice(None) if rank is None else slice(first) if rank == 0 else slice(first, ROWS)


def steps(norm: str, part: slice, synced: bool) -> Results:
    """Two training passes: outputs, gradients and state."""
    build, shape = NORMS[norm]
    torch.manual_seed(0)
    module = build().double()
    for parameter in module.parameters():
        nn.init.uniform_(parameter, 0.5, 1.5)
    found: Results = {"outputs": [], "inputs": []}
    if synced:
        synchronised(module)
    for _ in range(2):
        whole = torch.randn(ROWS, *shape, dtype=torch.float64) + 3
        x = whole[part].clone().requires_grad_()
        y = module(x)
        torch.autograd.backward([(y.square() * torch.randn_like(whole)[part]).sum()])
        found["outputs"].append(y.detach())
        found["inputs"].append(x.grad)
    found["weights"] = [parameter.grad for parameter in module.parameters()]
    found["state"] = dict(module.state_dict())
    return found


def network() -> nn.Module:
    """A network with all kinds of norms of compiled networks."""
    candidates = "conv(6) > bn(false), relu > conv(6) > bn(false), conv(6, 5) > bn(true)"
    text = body(f"x -> out : choose {{ {candidates} }} > global_avg_pool > linear(4)", "image(3, 6, 6) -> classes(4)")
    torch.manual_seed(0)
    return Supernet.of(passes.run(graph(text), passes.SWITCHES)).module.double()


def batch() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(ROWS, 3, 6, 6, dtype=torch.float64, generator=generator)
    return x, torch.randint(4, (ROWS,), generator=generator)


def parallel(split: str, rank: int) -> Results:
    """The gradients of the mean loss over all rows, averaged by `DistributedDataParallel`."""
    parallel = DistributedDataParallel(synchronised(network()))
    x, labels = (whole[rows(split, rank)] for whole in batch())
    share = len(x) * distributed.get_world_size() / ROWS  # 1 if all have as many rows
    torch.autograd.backward([F.cross_entropy(parallel(x), labels) * share])
    return {name: parameter.grad for name, parameter in parallel.module.named_parameters()}


def large_mean(rank: int) -> Results:
    """Values whose variance would be lost in single precision when squared."""
    norm = synchronised(nn.BatchNorm1d(3, momentum=1.0))
    norm(far()[rows("unequal", rank)])
    return {name: buffer.double() for name, buffer in norm.named_buffers()}


def far() -> Tensor:
    return torch.randn(ROWS, 3, generator=torch.Generator().manual_seed(7)) + 10_000


def half(rank: int | None) -> Results:
    """A pass in half precision and channels last, by one or several processes."""
    norms = nn.Sequential(nn.BatchNorm2d(3), LightBatchNorm2d(3))
    if rank is not None:
        synchronised(norms)
    generator = torch.Generator().manual_seed(7)
    whole = (torch.randn(2, ROWS, 3, 4, 5, generator=generator) + 3).bfloat16()
    x, weights = (values[rows("unequal", rank)].contiguous(memory_format=torch.channels_last) for values in whole)
    y = norms(x.requires_grad_())
    torch.autograd.backward([y], [weights])
    assert x.grad is not None
    assert all(value.is_contiguous(memory_format=torch.channels_last) for value in (y, x.grad))
    return {"output": y.detach(), "input": x.grad, "state": dict(norms.state_dict())}


def of_group(rank: int) -> Tensor:
    """The means for groups of one process each."""
    alone = [distributed.new_group([member]) for member in range(distributed.get_world_size())]
    norm = synchronised(synchronised(nn.BatchNorm1d(1, momentum=1.0)), alone[rank])
    norm(torch.tensor([[1.0], [3.0]]) + 10 * rank)
    return norm.get_buffer("running_mean")


def work(rank: int, folder: str) -> None:
    """The work of one process."""
    torch.set_num_threads(1)
    meeting = f"file://{folder}/meeting"
    distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=2, timeout=timedelta(minutes=5))
    found: Results = {f"{norm}, {split}": steps(norm, rows(split, rank), synced=True) for norm, split in CASES}
    found |= {split: parallel(split, rank) for split in ("equal", "unequal")}
    found |= {"large mean": large_mean(rank), "half": half(rank), "group": of_group(rank)}
    torch.save(found, Path(folder, f"{rank}.pt"))
    distributed.destroy_process_group()


@pytest.fixture(scope="session")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> list[Results]:
    """The results of two processes."""
    folder = tmp_path_factory.mktemp("ranks")
    spawn(work, (str(folder),), nprocs=2)  # type: ignore[no-untyped-call]
    return [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in range(2)]


@pytest.mark.parametrize(("norm", "split"), CASES)
def test_processes_train_as_one(ranks: list[Results], norm: str, split: str) -> None:
    one, parts = steps(norm, slice(None), synced=False), [rank[f"{norm}, {split}"] for rank in ranks]
    for name in ("outputs", "inputs"):
        together = [torch.cat(halves) for halves in zip(*(part[name] for part in parts), strict=True)]
        torch.testing.assert_close(together, one[name])
    total = [sum(halves) for halves in zip(*(part["weights"] for part in parts), strict=True)]
    torch.testing.assert_close(total, one["weights"])
    for part in parts:
        torch.testing.assert_close(part["state"], one["state"])


@pytest.mark.parametrize("split", ["equal", "unequal"])
def test_gradients_of_data_parallelism(ranks: list[Results], split: str) -> None:
    x, labels = batch()
    one = network()
    torch.autograd.backward([F.cross_entropy(one(x), labels)])
    for rank in ranks:
        torch.testing.assert_close(rank[split], {name: parameter.grad for name, parameter in one.named_parameters()})


def test_a_large_mean_hides_no_variance(ranks: list[Results]) -> None:
    variance = far().double().var(0)
    for rank in ranks:
        torch.testing.assert_close(rank["large mean"]["running_var"], variance, rtol=1e-3, atol=0)


def test_half_precision(ranks: list[Results]) -> None:
    one = half(None)
    for name in ("output", "input"):
        together = torch.cat([rank["half"][name] for rank in ranks])
        torch.testing.assert_close(together, one[name], rtol=0.02, atol=0.02)
    for rank in ranks:
        torch.testing.assert_close(rank["half"]["state"], one["state"], rtol=1e-4, atol=1e-4)


def test_only_the_group_counts(ranks: list[Results]) -> None:
    assert [rank["group"].item() for rank in ranks] == [2, 12]


def test_what_stays_as_it_is() -> None:
    """Tensors, their names and shared modules stay, and so do the results with one process."""
    plain = network()
    synced = copy.deepcopy(plain)
    before = list(synced.named_parameters())
    assert synchronised(synced) is synced
    assert all(new is old for (_, new), (_, old) in zip(synced.named_parameters(), before, strict=True))
    norms = [module for module in synced.modules() if isinstance(module, nn.BatchNorm2d)]
    assert {type(norm).__name__ for norm in norms} == {"SyncedBatchNorm2d", "SyncedLightBatchNorm2d"}
    x, _ = batch()
    for training in (True, False):
        outputs = [net.train(training)(x) for net in (plain, synced)]
        assert torch.equal(outputs[0], outputs[1])
        assert synced.state_dict().keys() == plain.state_dict().keys()
        torch.testing.assert_close(dict(synced.state_dict()), dict(plain.state_dict()), rtol=0, atol=0)
