"""The download addresses of data sets, with checksums and file sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bayesnas_graph.data.cifar import CIFAR10, CIFAR100, PIXELS, Version


@dataclass(frozen=True)
class Archive:
    """A compressed file on a server."""

    name: str
    size: int  # bytes
    md5: str
    contents: tuple[tuple[str, int], ...]  # the files in it and their sizes in bytes

    @property
    def unpacked(self) -> bool:
        """Whether the files are extracted; a plain `.gz` is read as it is."""
        return self.name.endswith(".tar.gz")


@dataclass(frozen=True)
class DownloadSource:
    """The download address of a data set."""

    name: str  # of the data set
    address: str  # base URL of the archives, with a trailing slash
    folder: str  # subfolder for the files, in the data folder and in a tar archive
    archives: tuple[Archive, ...]


def _idx(name: str, address: str, *files_on_server: tuple[int, str]) -> DownloadSource:
    files = {
        "train-images-idx3-ubyte": 16 + 60_000 * 28 * 28,
        "train-labels-idx1-ubyte": 8 + 60_000,
        "t10k-images-idx3-ubyte": 16 + 10_000 * 28 * 28,
        "t10k-labels-idx1-ubyte": 8 + 10_000,
    }
    archives = (
        Archive(f"{file}.gz", compressed, md5, ((file, size),))
        for (file, size), (compressed, md5) in zip(files.items(), files_on_server, strict=True)
    )
    return DownloadSource(name, address, name, tuple(archives))


def _cifar(version: Version, archive: str, size: int, md5: str) -> DownloadSource:
    record = version.labels + PIXELS
    train = tuple((file, 50_000 // len(version.train) * record) for file in version.train)
    contents = (*train, (version.test, 10_000 * record))
    address = "https://www.cs.toronto.edu/~kriz/"
    return DownloadSource(version.name, address, version.folder, (Archive(archive, size, md5, contents),))


ORIGINS: Mapping[str, DownloadSource] = {
    origin.name: origin
    for origin in (
        _idx(
            "mnist",
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            (9_912_422, "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
            (28_881, "d53e105ee54ea40749a09fcbcd1e9432"),
            (1_648_877, "9fb629c4189551a2d022fa330f9573f3"),
            (4_542, "ec29112dd5afa0611ce80d1b7f02629c"),
        ),
        _idx(
            "fashion-mnist",
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
            (26_421_880, "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
            (29_515, "25c81989df183df01b3e8a0aad5dffbe"),
            (4_422_102, "bef4ecab320f06d8554ea6380940ec79"),
            (5_148, "bb300cfdad3c16e7a12a480ee83cd310"),
        ),
        _cifar(CIFAR10, "cifar-10-binary.tar.gz", 170_052_171, "c32a1d4ab5d03f1284b67883e8d87530"),
        _cifar(CIFAR100, "cifar-100-binary.tar.gz", 168_513_733, "03b5dce01913d631647c71ecec9e9cb8"),
    )
}
