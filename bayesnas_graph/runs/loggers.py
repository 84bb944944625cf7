"""Loggers that other tools read: TensorBoard, Weights & Biases and MLflow. Each writes into the run folder."""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from torch import Tensor

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.packages import check_packages
from bayesnas_graph.diagnostics.suggest import nearest
from bayesnas_graph.runs.paths import RunPaths

PROJECT = "bayesnas-graph"  # of Weights & Biases, and the experiment of MLflow


class Writer(Protocol):
    """The part of torch's `SummaryWriter` that is used."""

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> object: ...
    def add_histogram(self, tag: str, values: Tensor, global_step: int) -> object: ...
    def close(self) -> object: ...


# Opens a writer in the folder of a run for a step and all later ones; the settings of the run describe it.
Open = Callable[[RunPaths, int, Mapping[str, Any]], Writer]


def opener(name: str) -> Open:
    """Return what opens the writer of this name. Raises NasError if its package is missing, or if there is none."""
    if name not in LOGGERS:
        close = nearest(name, LOGGERS)
        help = f"did you mean `{close}`?" if close else f"use {', '.join(f'`{one}`' for one in LOGGERS)}"
        raise NasError([Diagnostic("NAS601", f"there is no logger `{name}`", help=help)])
    check_packages(name, f"the logger `{name}` needs")
    return LOGGERS[name]


def openers(names: Iterable[str]) -> list[Open]:
    """Return what opens the writers of these names, each once. Raises NasError."""
    return [opener(name) for name in dict.fromkeys(names)]


def _tensorboard(folder: RunPaths, step: int, _settings: Mapping[str, Any]) -> Writer:
    """Open a writer that drops earlier events from this step on."""
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(folder.tensorboard), purge_step=step)


@dataclass(frozen=True)
class _Wandb:
    """A run of Weights & Biases. Its own steps cannot go back, so the step of a search is a metric."""

    run: Any
    histogram: Callable[..., object]

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        self.run.log({tag: scalar_value, "step": global_step})

    def add_histogram(self, tag: str, values: Tensor, global_step: int) -> None:
        self.run.log({tag: self.histogram(values.tolist()), "step": global_step})

    def close(self) -> None:
        self.run.finish()


def _wandb(folder: RunPaths, _step: int, settings: Mapping[str, Any]) -> Writer:
    """Open a run that stays on this machine, unless WANDB_MODE says otherwise."""
    wandb = import_module("wandb")
    mode = os.environ.get("WANDB_MODE", "offline")
    run = wandb.init(
        project=PROJECT,
        name=folder.path.name,
        dir=str(folder.path),
        config=dict(settings),
        mode=mode,
        reinit="create_new",
        settings=wandb.Settings(silent=True),
    )
    run.define_metric("*", step_metric="step")
    return _Wandb(run, wandb.Histogram)


@dataclass(frozen=True)
class _Mlflow:
    """A run of MLflow."""

    client: Any
    run: str

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        self.client.log_metric(self.run, _mlflow_name(tag), scalar_value, int(time.time() * 1000), global_step)

    def add_histogram(self, tag: str, values: Tensor, global_step: int) -> None:
        self.add_scalar(f"{tag}/mean", float(values.mean()), global_step)  # MLflow has no histograms

    def close(self) -> None:
        self.client.set_terminated(self.run)


def _mlflow(folder: RunPaths, _step: int, settings: Mapping[str, Any]) -> Writer:
    """Open a run in a database in the run folder, unless MLFLOW_TRACKING_URI says otherwise."""
    client_of, param = import_module("mlflow").MlflowClient, import_module("mlflow.entities").Param
    own = f"sqlite:///{folder.mlflow.absolute()}"
    with _quiet():  # it reports that it creates the tables
        client = client_of(os.environ.get("MLFLOW_TRACKING_URI", own))
        known = client.get_experiment_by_name(PROJECT)
        experiment = client.create_experiment(PROJECT) if known is None else known.experiment_id
        run = client.create_run(experiment, run_name=folder.path.name).info.run_id
    client.log_batch(run, params=[param(name, str(value)) for name, value in settings.items()])
    return _Mlflow(client, run)


@contextmanager
def _quiet() -> Iterator[None]:
    """Print no messages of packages that are neither warnings nor errors."""
    before = logging.root.manager.disable
    logging.disable(logging.INFO)
    try:
        yield
    finally:
        logging.disable(before)


def _mlflow_name(tag: str) -> str:
    """Return a name that MLflow takes.

    >>> _mlflow_name("switches/conv(k = 5)")
    'switches/conv_k _ 5_'
    """
    return re.sub(r"[^\w\-. /]", "_", tag, flags=re.ASCII)


LOGGERS: Mapping[str, Open] = {"tensorboard": _tensorboard, "wandb": _wandb, "mlflow": _mlflow}
