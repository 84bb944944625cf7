"""An exported network in a process that cannot import this package: `python benchmarks/exported_alone.py FOLDER`.

The folder has `digits.py` and `digits.safetensors`, exported by `make demo`. The accuracy on the test set, the last 297
digits of scikit-learn, must be the one that the search reported.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file
from sklearn.datasets import load_digits  # type: ignore[import-untyped]

TEST = 297


def main() -> None:
    folder = Path(sys.argv[1])
    sys.path[:] = [str(folder), *(path for path in sys.path if not (Path(path) / "bayesnas_graph").is_dir())]
    sys.modules["bayesnas_graph"] = None  # type: ignore[assignment]  # makes imports fail
    network = importlib.import_module("digits").Digits()
    network.load_state_dict(load_file(folder / "digits.safetensors"), strict=True)
    images, labels = load_digits(return_X_y=True)
    pixels = torch.tensor(images, dtype=torch.float32).mul(255 / 16).round().div(255).reshape(-1, 1, 8, 8)
    seen = pixels[:-TEST]
    pixels = (pixels[-TEST:] - seen.mean()) / seen.std()
    with torch.no_grad():
        accuracy = (network.eval()(pixels).argmax(1) == torch.tensor(labels[-TEST:])).float().mean()
    count = sum(parameter.numel() for parameter in network.parameters())
    print(f"digits.py alone: {count:,} parameters, accuracy {accuracy:.4f} on {TEST} unseen digits")


if __name__ == "__main__":
    main()
