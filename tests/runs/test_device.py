"""Selecting a device, and errors when it cannot be used."""

from __future__ import annotations

import os

import pytest
import torch

from bayesnas_graph.diagnostics import NasError, render
from bayesnas_graph.runs.device import Device, check_deterministic, find_device, machine_limits, prepare_device
from bayesnas_graph.runs.processes import Processes
from tests.helpers import body, graph
from tests.search.spaces import config, device


class InductorError(RuntimeError):
    """Like the error of torch.compile when there is no compiler."""


InductorError.__module__ = "torch._inductor.exc"


def said(error: Exception, *, compile: bool = False) -> str:
    given = config(compile=compile)
    with pytest.raises(NasError) as found, machine_limits(given, device(given)):
        raise error
    return render(found.value.diagnostics[0])


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory."),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
    ],
)
def test_out_of_memory(error: Exception) -> None:
    assert said(error) == (
        "error[NAS601]: a batch of 20 does not fit into the memory of `cpu`\n"
        " = help: increase `accumulate`, which computes a batch in parts, or reduce `batch`\n"
    )


def test_really_out_of_memory() -> None:
    given = config()
    with pytest.raises(NasError, match="does not fit into the memory"), machine_limits(given, device(given)):
        torch.empty(2**62, dtype=torch.uint8)


def test_no_compiler() -> None:
    assert said(InductorError("InvalidCxxCompiler: No working C++ compiler found\nand more"), compile=True) == (
        "error[NAS609]: torch.compile does not work here: InvalidCxxCompiler: No working C++ compiler found\n"
        " = help: omit `--compile`, or install a working C++ compiler\n"
    )


@pytest.mark.parametrize("error", [RuntimeError("size mismatch"), ValueError("no"), InductorError("not asked for")])
def test_faults_of_ours_stay_faults(error: Exception) -> None:
    given = config()
    with pytest.raises(type(error)) as found, machine_limits(given, device(given)):
        raise error
    assert found.value is error


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert find_device("auto") == find_device("cpu") == torch.device("cpu")
    for name in ("cuda", "mps"):
        with pytest.raises(NasError) as error:
            find_device(name)
        assert render(error.value.diagnostics[0]) == (
            f"error[NAS609]: no device `{name}` is available\n"
            " = help: available: cpu; `--device auto` selects the best\n"
        )


def test_a_run_goes_on_with_its_own_threads() -> None:
    """Sums depend on the number of threads."""
    for asked, kept, expected in ((1, 0, 1), (1, 2, 2), (0, 2, 2)):
        with prepare_device(config(threads=asked), kept) as found:
            assert torch.get_num_threads() == expected
            assert isinstance(found, Device)


def test_precision() -> None:
    found = device(config(precision="bf16"))
    assert (found.precision, found.fused_for) == (torch.bfloat16, "cpu")
    assert not found.scaler().is_enabled()
    assert device(config(precision="fp16")).scaler().is_enabled()


def test_deterministic_runs_set_what_cuda_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    try:
        with prepare_device(config(deterministic=True)):
            assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
            assert torch.are_deterministic_algorithms_enabled()
            assert torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
            assert (torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic) == (False, True)
        monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
        with prepare_device(config(deterministic=True)):
            assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8", "the user's own"
    finally:
        with prepare_device(config()):
            assert not torch.are_deterministic_algorithms_enabled()
            assert (torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic) == (True, False)


@pytest.mark.parametrize(
    ("operation", "is_refused"),
    [
        ("adaptive_avg_pool(4)", True),
        ("adaptive_avg_pool(1)", False),
        ("adaptive_max_pool(3)", True),
        ("adaptive_max_pool(4)", False),  # equal windows: an ordinary pool
        ('upsample(2, "bilinear")', False),
        ("max_pool(3) > avg_pool(3)", False),
    ],
)
def test_operations_without_a_deterministic_gradient(operation: str, is_refused: bool) -> None:
    found = graph(body(f"x -> out : {operation} > global_avg_pool > linear(2)", "image(3, 8, 8) -> classes(2)"))
    given, cuda = config(deterministic=True), torch.device("cuda")
    check_deterministic(found, given, device(given))
    check_deterministic(found, config(), Device.of(config(), cuda, Processes()))
    if not is_refused:
        check_deterministic(found, given, Device.of(given, cuda, Processes()))
        return
    with pytest.raises(NasError, match="is not deterministic on CUDA") as error:
        check_deterministic(found, given, Device.of(given, cuda, Processes()))
    assert "use `avg_pool` or `max_pool`" in render(error.value.diagnostics[0])
