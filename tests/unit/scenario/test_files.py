"""Text out of files, whatever a shell, an editor or a mistake has made of them."""

import codecs
import gzip
import os
from pathlib import Path

import pytest

from evac.errors import InputError
from evac.scenario import files
from evac.scenario.files import read_texts

YAML = (".yaml", ".yml", ".json")


def texts(path: Path | str) -> list[str]:
    return [text.content for text in read_texts(str(path), YAML, "manifests")]


def complaint(path: Path | str) -> InputError:
    with pytest.raises(InputError) as caught:
        texts(path)
    assert caught.value.cure
    return caught.value


@pytest.mark.parametrize(
    "raw",
    [
        "a: ü\n".encode(),
        codecs.BOM_UTF8 + "a: ü\n".encode(),
        codecs.BOM_UTF16_LE + "a: ü\n".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "a: ü\n".encode("utf-16-be"),
        b"a: \xc3\xbc\r\n",
    ],
    ids=["plain", "byte order mark", "PowerShell's >", "big endian", "CRLF"],
)
def test_encodings_and_line_ends_make_no_difference(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(raw)
    assert texts(path) == ["a: ü\n"]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nope.yaml"
    assert str(complaint(path)) == f"{path}: no such file or folder"


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (gzip.compress(b"a: b"), "compressed"),
        (b"\x7fELF\x00\x01", "binary"),
        (b"a: b\nc: \xff\xfe\n", "UTF-8"),
        (codecs.BOM_UTF16_LE + b"a", "UTF-8"),
    ],
)
def test_what_is_no_text_is_told_from_what_is(tmp_path: Path, raw: bytes, words: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(raw)
    assert words in complaint(path).message


def test_the_line_of_a_bad_byte_is_named(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(b"a: b\nc: \xff\n")
    assert complaint(path).place == f"{path}:2"


def test_an_unreadable_file_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "c.yaml"
    path.write_text("a: b")
    monkeypatch.setattr("builtins.open", refuse)  # root reads everything, so the system is not asked
    with pytest.raises(InputError, match="may not be read"):
        texts(path)


def test_a_file_beyond_the_bound_is_refused_and_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST", 1000)
    assert "larger" in complaint("/dev/zero").message
    path = tmp_path / "c.yaml"
    path.write_bytes(b"#" * 1000)
    assert texts(path) == ["#" * 1000]


def test_a_name_with_a_nul_in_it_is_a_complaint() -> None:
    assert "cannot be read" in complaint("a\0b").message


def test_a_folder_gives_its_files_by_name_at_any_depth_hidden_ones_left_out(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.json", "deep/c.yml", ".hidden.yaml", ".git/d.yaml", "notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    assert texts(tmp_path) == ["a.json", "b.yaml", "deep/c.yml"]


def test_a_folder_without_any_names_what_was_looked_for(tmp_path: Path) -> None:
    assert "*.yaml" in complaint(tmp_path).message


def test_a_folder_that_links_to_itself_ends(tmp_path: Path) -> None:
    os.symlink(tmp_path, tmp_path / "loop")
    (tmp_path / "a.yaml").write_text("a")
    assert "a" in texts(tmp_path)
