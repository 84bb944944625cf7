"""Settings of the whole process that a run changes: they are restored when it ends, however it ends."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from warnings import catch_warnings

import numpy as np
import torch

CUBLAS = "CUBLAS_WORKSPACE_CONFIG"


@contextmanager
def process_state_kept(*, compiles: bool = False) -> Iterator[None]:
    """Restore threads, flags, filters and random states of the process at the end of this block.

    Limits of `torch.compile` are among them if the block `compiles`; only looking at them takes seconds.
    """
    with ExitStack() as after:
        for kept in (_random_states, _threads, _deterministic, _cudnn, _cublas, _cuda_device):
            after.enter_context(kept())
        after.enter_context(catch_warnings())  # packages that are loaded on the way add filters
        if compiles:
            after.enter_context(_recompile_limit())
        yield


@contextmanager
def _random_states() -> Iterator[None]:
    """Keep the global generators, which a run seeds in every step."""
    of_python, of_numpy, of_torch = random.getstate(), np.random.get_state(), torch.random.get_rng_state()
    of_cuda = torch.cuda.get_rng_state_all() if _uses_cuda() else []
    of_mps = torch.mps.get_rng_state() if torch.backends.mps.is_available() else None
    try:
        yield
    finally:
        random.setstate(of_python)
        np.random.set_state(of_numpy)
        torch.random.set_rng_state(of_torch)
        if of_cuda:
            torch.cuda.set_rng_state_all(of_cuda)
        if of_mps is not None:
            torch.mps.set_rng_state(of_mps)


@contextmanager
def _threads() -> Iterator[None]:
    before = torch.get_num_threads()
    try:
        yield
    finally:
        if torch.get_num_threads() != before:
            torch.set_num_threads(before)


@contextmanager
def _deterministic() -> Iterator[None]:
    before = torch.are_deterministic_algorithms_enabled()
    only_warns = torch.is_deterministic_algorithms_warn_only_enabled()
    try:
        yield
    finally:
        if torch.are_deterministic_algorithms_enabled() != before:  # the call takes seconds
            torch.use_deterministic_algorithms(before, warn_only=only_warns)


@contextmanager
def _cudnn() -> Iterator[None]:
    flags = torch.backends.cudnn
    before = flags.benchmark, flags.deterministic
    try:
        yield
    finally:
        flags.benchmark, flags.deterministic = before


@contextmanager
def _cublas() -> Iterator[None]:
    before = os.environ.get(CUBLAS)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(CUBLAS, None)
        else:
            os.environ[CUBLAS] = before


@contextmanager
def _cuda_device() -> Iterator[None]:
    before = torch.cuda.current_device() if _uses_cuda() else None
    try:
        yield
    finally:
        if before is not None:
            torch.cuda.set_device(before)


@contextmanager
def _recompile_limit() -> Iterator[None]:
    before = torch._dynamo.config.recompile_limit
    try:
        yield
    finally:
        torch._dynamo.config.recompile_limit = before


def _uses_cuda() -> bool:
    return bool(torch.cuda.is_initialized())  # type: ignore[no-untyped-call]
