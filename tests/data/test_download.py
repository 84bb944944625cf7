"""Downloads from a local server, and their failures."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bayesnas_graph.data import stream, transfer
from bayesnas_graph.data.catalogue import Archive, DownloadSource
from bayesnas_graph.data.download import download
from bayesnas_graph.diagnostics import NasError
from tests.data.files import problem
from tests.data.server import Manner, Server, serving

CONTENT = bytes(range(256)) * 500
FILE = gzip.compress(CONTENT, mtime=0)
BINS = {"a.bin": b"a" * 3000, "b.bin": b"b" * 1000}


def md5(content: bytes) -> str:
    return hashlib.md5(content).hexdigest()


def tar(members: dict[str, bytes], extra: tuple[tarfile.TarInfo, ...] = ()) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for info in extra:
            archive.addfile(info)
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), mtime=0)  # the same bytes whenever tests are collected


def one_file(content: bytes = FILE) -> DownloadSource:
    """A data set of one compressed file."""
    archive = Archive("numbers.gz", len(content), md5(content), (("numbers", len(CONTENT)),))
    return DownloadSource("numbers", "http://127.0.0.1:9/", "numbers", (archive,))


def archived(content: bytes) -> DownloadSource:
    """A data set in a tar archive."""
    files = tuple((name, len(inside)) for name, inside in BINS.items())
    archive = Archive("bins.tar.gz", len(content), md5(content), files)
    return DownloadSource("bins", "http://127.0.0.1:9/", "bins", (archive,))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    with serving() as running:
        running.files["numbers.gz"] = FILE
        yield running


def get(origin: DownloadSource, folder: Path, server: Server) -> list[tuple[str, bool]]:
    found = download(origin, folder, lambda *_: None, server.address)
    return [(str(path.relative_to(folder)), fetched) for path, fetched in found]


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def fails(origin: DownloadSource, folder: Path, server: Server) -> str:
    with pytest.raises(NasError) as error:
        get(origin, folder, server)
    assert problem(error).code == "NAS506"
    return problem(error).message


def test_a_file(tmp_path: Path, server: Server) -> None:
    told: list[tuple[str, int, int | None]] = []
    found = list(download(one_file(), tmp_path, lambda *what: told.append(what), f"{server.address}/"))
    assert found == [(tmp_path / "numbers" / "numbers.gz", True)]
    assert found[0][0].read_bytes() == FILE
    assert files(tmp_path) == ["numbers/numbers.gz"]
    assert told[0] == ("numbers.gz", 0, len(FILE))
    assert told[-1] == ("numbers.gz", len(FILE), len(FILE))


def test_what_is_there_and_whole_stays(tmp_path: Path, server: Server) -> None:
    get(one_file(), tmp_path, server)
    server.asked.clear()
    assert get(one_file(), tmp_path, server) == [("numbers/numbers.gz", False)]
    path = tmp_path / "numbers" / "numbers.gz"
    path.write_bytes(gzip.compress(CONTENT, compresslevel=1, mtime=5))  # by someone else, in another way
    assert get(one_file(), tmp_path, server) == [("numbers/numbers.gz", False)]
    path.unlink()
    (tmp_path / "numbers" / "numbers").write_bytes(CONTENT)
    assert get(one_file(), tmp_path, server) == [("numbers/numbers", False)]
    assert server.asked == []


DAMAGED = {
    "cut": FILE[:-20],
    "empty": b"",
    "changed": FILE[:100] + b"\0" * 9 + FILE[109:],
    "other": gzip.compress(b"other", mtime=0),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_what_is_there_and_not_whole_is_replaced(tmp_path: Path, server: Server, content: bytes) -> None:
    path = tmp_path / "numbers" / "numbers.gz"
    path.parent.mkdir()
    path.write_bytes(content)
    assert get(one_file(), tmp_path, server) == [("numbers/numbers.gz", True)]
    assert path.read_bytes() == FILE


def test_a_lost_connection_is_resumed(tmp_path: Path, server: Server) -> None:
    server.manner = "cut"
    half = len(FILE) // 2
    message = fails(one_file(), tmp_path, server)
    assert message.endswith(f"the connection ended after {half:,} of {len(FILE):,} bytes")
    assert files(tmp_path) == ["numbers/numbers.gz.part"]
    server.manner = "good"
    assert get(one_file(), tmp_path, server) == [("numbers/numbers.gz", True)]
    assert server.asked == [("numbers.gz", 0), ("numbers.gz", half)]
    assert (tmp_path / "numbers" / "numbers.gz").read_bytes() == FILE
    assert files(tmp_path) == ["numbers/numbers.gz"]


BEGINNINGS = {
    "beginning": FILE[:50],
    "whole": FILE,
    "longer": FILE + b"x",
    "other": b"something else",
    "much longer": b"y" * 2 * len(FILE),
}


@pytest.mark.parametrize("manner", ["good", "no ranges", "no length"])
@pytest.mark.parametrize("begun", BEGINNINGS.values(), ids=BEGINNINGS)
def test_any_beginning_ends_well(tmp_path: Path, server: Server, manner: Manner, begun: bytes) -> None:
    (tmp_path / "numbers").mkdir()
    (tmp_path / "numbers" / "numbers.gz.part").write_bytes(begun)
    server.manner = manner
    get(one_file(), tmp_path, server)
    assert (tmp_path / "numbers" / "numbers.gz").read_bytes() == FILE
    assert files(tmp_path) == ["numbers/numbers.gz"]


@pytest.mark.parametrize(
    ("manner", "message"),
    [
        ("spoilt", "wrong checksum"),
        ("loop", "too many redirects (302)"),
        ("broken", "the server answered 503 Service Unavailable"),
    ],
)
def test_nothing_is_left_of_what_is_wrong(tmp_path: Path, server: Server, manner: Manner, message: str) -> None:
    server.manner = manner
    expected = f"cannot download `{server.address}/numbers.gz`: {message}"
    assert fails(one_file(), tmp_path, server) == expected
    assert files(tmp_path) == []


def test_a_range_that_was_not_asked_for(tmp_path: Path, server: Server) -> None:
    (tmp_path / "numbers").mkdir()
    (tmp_path / "numbers" / "numbers.gz.part").write_bytes(FILE[:50])
    server.manner = "other range"
    assert "the server sent another part of the file" in fails(one_file(), tmp_path, server)
    assert files(tmp_path) == []


def test_a_file_that_is_not_there(tmp_path: Path, server: Server) -> None:
    server.files.clear()
    assert "the server has no such file (404)" in fails(one_file(), tmp_path, server)


def test_a_server_that_is_not_there(tmp_path: Path, server: Server) -> None:
    with pytest.raises(NasError) as error:
        list(download(one_file(), tmp_path, lambda *_: None))
    assert problem(error).message == "cannot download `http://127.0.0.1:9/numbers.gz`: connection refused"
    for mirror in ("http://host.invalid", "http://", "http://[", "http://x:y", "http://a b"):
        with pytest.raises(NasError) as error:
            list(download(one_file(), tmp_path, lambda *_: None, mirror))
        assert problem(error).code == "NAS506"


@pytest.mark.parametrize("mirror", ["ftp://x", "file:///etc", "/tmp", ""])
def test_mirrors_are_on_the_web(tmp_path: Path, mirror: str) -> None:
    with pytest.raises(NasError) as error:
        list(download(one_file(), tmp_path, lambda *_: None, mirror))
    assert problem(error).message == f"cannot download from `{mirror}`"
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    ("manner", "message"),
    [
        ("endless", f"the server sends more than the {len(FILE):,} bytes of the file"),
        ("endless header", "got more than 65536 bytes when reading header line"),
        ("endless redirect", "too many redirects (302)"),
        ("wanders", "too many redirects (302)"),
        ("leaves the web", "redirected to `file:///etc/passwd`"),
        ("says less", f"the file on the server has 10 bytes instead of {len(FILE):,}"),
        ("says more", f"the file on the server has 1,000,000,000,000 bytes instead of {len(FILE):,}"),
    ],
)
def test_servers_that_do_not_end_well(tmp_path: Path, server: Server, manner: Manner, message: str) -> None:
    server.manner = manner
    assert fails(one_file(), tmp_path, server) == f"cannot download `{server.address}/numbers.gz`: {message}"
    assert files(tmp_path) == []
    assert len(server.asked) <= stream.MOST_REDIRECTS
    assert server.poured < 2**28  # buffers of the system, one for each redirect; the server would go on for ever


@pytest.mark.parametrize(
    ("manner", "message"),
    [
        ("slow", "the server is too slow: only"),
        ("slow header", "no answer for 0 seconds"),
        ("endless trailer", "the connection was lost: no answer for 0 seconds"),
    ],
)
def test_servers_that_are_too_slow(
    tmp_path: Path, server: Server, manner: Manner, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "TIMEOUT", 0.3)
    monkeypatch.setattr(transfer, "TIMEOUT", 0.3)
    server.manner = manner
    assert fails(one_file(), tmp_path, server).startswith(f"cannot download `{server.address}/numbers.gz`: {message}")
    assert set(files(tmp_path)) <= {"numbers/numbers.gz.part"}


def test_a_length_that_is_no_number(tmp_path: Path, server: Server) -> None:
    server.manner = "says nonsense"
    assert get(one_file(), tmp_path, server) == [("numbers/numbers.gz", True)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "open_part", lambda *_, **__: os.fdopen(os.open("/dev/full", os.O_WRONLY), "wb"))
    message = fails(one_file(), tmp_path, server)
    assert message == f"cannot write `{tmp_path / 'numbers' / 'numbers.gz.part'}`: no space left on device"
    assert files(tmp_path) == []


def test_no_link_is_followed_and_no_pipe_waited_for(tmp_path: Path, server: Server) -> None:
    other, part = tmp_path / "other", tmp_path / "data" / "numbers" / "numbers.gz.part"
    part.parent.mkdir(parents=True)
    other.write_text("precious")
    part.symlink_to(other)
    assert "too many levels of symbolic links" in fails(one_file(), tmp_path / "data", server)
    assert other.read_text() == "precious"
    part.unlink()
    os.mkfifo(part)
    assert "cannot write" in fails(one_file(), tmp_path / "data", server)


def test_a_bomb_is_not_decompressed(tmp_path: Path, server: Server) -> None:
    """Files that are there are kept if they hold what they should; no more than that is read."""
    path = tmp_path / "numbers" / "numbers.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(bytes(2**20)) * 1_000)
    assert get(one_file(), tmp_path, server) == [("numbers/numbers.gz", True)]
    path.unlink()
    os.mkfifo(path)
    assert get(one_file(), tmp_path, server) == [("numbers/numbers.gz", True)]
    assert path.read_bytes() == FILE


def test_folders_in_the_way(tmp_path: Path, server: Server) -> None:
    (tmp_path / "file").write_text("")
    assert "not a directory" in fails(one_file(), tmp_path / "file", server)
    (tmp_path / "numbers" / "numbers.gz.part").mkdir(parents=True)
    assert "is a directory" in fails(one_file(), tmp_path, server)
    (tmp_path / "numbers" / "numbers.gz.part").rmdir()
    (tmp_path / "numbers" / "numbers.gz" / "x").mkdir(parents=True)
    assert "is a directory" in fails(one_file(), tmp_path, server)


def test_an_archive(tmp_path: Path, server: Server) -> None:
    content = tar({f"bins/{name}": inside for name, inside in BINS.items()} | {"bins/readme.html": b"hello"})
    server.files["bins.tar.gz"] = content
    assert get(archived(content), tmp_path, server) == [("bins/a.bin", True), ("bins/b.bin", True)]
    assert files(tmp_path) == ["bins/a.bin", "bins/b.bin"]
    assert (tmp_path / "bins" / "b.bin").read_bytes() == BINS["b.bin"]
    assert get(archived(content), tmp_path, server) == [("bins/a.bin", False), ("bins/b.bin", False)]
    assert len(server.asked) == 1
    (tmp_path / "bins" / "b.bin").write_bytes(b"b")
    assert get(archived(content), tmp_path, server) == [("bins/a.bin", True), ("bins/b.bin", True)]


def test_an_archive_that_is_here_is_not_fetched_again(tmp_path: Path, server: Server) -> None:
    content = tar({f"./bins/{name}": inside for name, inside in BINS.items()})
    (tmp_path / "bins").mkdir()
    (tmp_path / "bins" / "bins.tar.gz").write_bytes(content)
    assert get(archived(content), tmp_path, server) == [("bins/a.bin", True), ("bins/b.bin", True)]
    assert server.asked == []
    assert files(tmp_path) == ["bins/a.bin", "bins/b.bin"]


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE, size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, size
    return info


OTHERS = {"bins/a.bin": BINS["a.bin"], "bins/c.bin": b"c" * 1000}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (tar({"bins/a.bin": BINS["a.bin"]}), "does not contain `b.bin` with 1,000 bytes"),
        (tar({"bins/a.bin": BINS["a.bin"], "bins/b.bin": b"b" * 999}), "does not contain `b.bin` with 1,000 bytes"),
        (tar({"a.bin": BINS["a.bin"], "../bins/b.bin": BINS["b.bin"]}), "does not contain `a.bin`"),
        (tar({"bins/a.bin": BINS["a.bin"]}, (link("bins/b.bin", "/etc/passwd"),)), "does not contain `b.bin`"),
        (
            tar({"bins/a.bin": BINS["a.bin"]}, (link("bins/b.bin", "bins/a.bin", tarfile.LNKTYPE),)),
            "does not contain `b.bin`",
        ),
        (tar(OTHERS, (link("bins/b.bin", "c.bin", size=1000),)), "does not contain `b.bin`"),
        (b"no archive at all", "cannot be unpacked: not a gzip file"),
        (tar({f"bins/{name}": inside for name, inside in BINS.items()})[:-60], "cannot be unpacked: "),
    ],
)
def test_archives_with_other_things_in_them(tmp_path: Path, server: Server, content: bytes, message: str) -> None:
    server.files["bins.tar.gz"] = content
    assert fails(archived(content), tmp_path / "data", server).startswith(f"`bins.tar.gz` {message}")
    assert set(files(tmp_path)) <= {"data/bins/a.bin"}


def test_only_what_is_expected_leaves_an_archive(tmp_path: Path, server: Server) -> None:
    inside = {f"bins/{name}": content for name, content in BINS.items()}
    evil = {"../evil": b"x", "/tmp/evil-bayesnas": b"x", "bins/../../evil": b"x", "bins/more": b"x"}
    content = tar(evil | inside, (link("bins", "/tmp"), link("bins/link", "/etc")))
    server.files["bins.tar.gz"] = content
    get(archived(content), tmp_path / "data", server)
    assert files(tmp_path) == ["data/bins/a.bin", "data/bins/b.bin"]
    assert not Path("/tmp/evil-bayesnas").exists()
