"""Packages that only some commands need, and how to install them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from bayesnas_graph.diagnostics.model import Diagnostic, NasError

# By extra, as in pyproject.toml: the packages by the module that is imported.
EXTRAS: Mapping[str, Mapping[str, str]] = {
    "datasets": {"datasets": "datasets", "PIL.Image": "pillow"},
    "digits": {"sklearn": "scikit-learn"},
    "images": {"PIL.Image": "pillow"},
    "lsp": {"lsprotocol.types": "lsprotocol", "pygls.lsp.server": "pygls"},
    "mlflow": {"mlflow": "mlflow"},
    "onnx": {"onnx": "onnx", "onnxruntime": "onnxruntime", "onnxscript": "onnxscript"},
    "parquet": {"pyarrow.parquet": "pyarrow"},
    "ray": {"ray": "ray"},
    "report": {
        "jinja2": "jinja2",
        "markupsafe": "markupsafe",
        "pygments": "pygments",
        "vl_convert": "vl-convert-python",
    },
    "tensorboard": {"torch.utils.tensorboard": "tensorboard"},
    "wandb": {"wandb": "wandb"},
}


def check_packages(extra: str, needs: str, code: str = "NAS609", otherwise: str = "") -> None:
    """Raise NasError if a package of an extra is missing.

    `needs` starts the message, such as "reports need", and `otherwise` ends the help. The help names packages, not the
    extra, so that it also works for those who installed a checkout or a wheel.
    """
    missing = [package for module, package in EXTRAS[extra].items() if not _can_import(module)]
    if missing:
        names = " and ".join(f"`{package}`" for package in missing)
        one = len(missing) == 1
        message = f"{needs} the package{'' if one else 's'} {names}, which {'is' if one else 'are'} not installed"
        help = f"install {'it' if one else 'them'} with `pip install {' '.join(missing)}`{otherwise}"
        raise NasError([Diagnostic(code, message, help=help)])


def _can_import(module: str) -> bool:
    try:
        import_module(module)
    except ImportError:
        return False
    return True
