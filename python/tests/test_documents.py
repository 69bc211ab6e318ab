"""Every example that people read is run."""

import doctest
import pathlib
import re
import socket
import subprocess
import sys
import warnings

import pytest

import diptych
from diptych import _agreement, _ledger, _progress, _release, _toml, circuit

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("module", [diptych, _agreement, _ledger, _progress, _release, _toml, circuit], ids=lambda it: it.__name__)
def test_docstrings(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = doctest.testmod(module, optionflags=FLAGS)
    assert found.failed == 0


def test_the_page(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    page = pathlib.Path(__file__).parents[1] / "README.md"
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        text = page.read_text().replace("127.0.0.1:7000", f"127.0.0.1:{any_port.getsockname()[1]}")
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
        found = doctest.DocTestRunner(optionflags=FLAGS).run(examples)
    assert found.attempted > 10 and found.failed == 0


def test_the_example():
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    example = pathlib.Path(__file__).parents[1] / "examples" / "two_parties.py"
    done = subprocess.run([sys.executable, str(example), "4000"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told = {words.strip(): float(number) for words, number in re.findall(r"^  (\D.*?) +(0\.\d+)$", done.stdout, re.M)}
    assert set(told) == {"from raw data", "from the release (ε = 1)", "always saying the larger class"}, done.stdout
    assert told["from raw data"] > told["always saying the larger class"]


def test_every_public_name_says_what_it_is():
    """What help() shows: each name of the package, its methods, and every field of a tuple."""
    import inspect

    for name in diptych.__all__:
        it = getattr(diptych, name)
        if name == "__version__":
            assert re.fullmatch(r"\d+\.\d+\.\d+.*", it)
            continue
        assert inspect.getdoc(it), name
        for field in getattr(it, "_fields", ()):
            assert f"``{field}``" in it.__doc__, f"{name}.{field}"
        for member, value in vars(it).items() if inspect.isclass(it) else ():
            of_tuple = member in getattr(it, "_fields", ()) or hasattr(tuple, member)
            if not (member.startswith("_") or of_tuple or member in ("status",)):
                assert inspect.getdoc(value), f"{name}.{member}"
    public = {name for name, it in vars(diptych).items() if callable(it) and it.__module__ == "diptych"}
    assert {name for name in public if not name.startswith("_")} <= set(diptych.__all__)


def test_the_stub_has_all_of_the_native_half():
    from diptych import _native

    stub = (pathlib.Path(diptych.__file__).parent / "_native.pyi").read_text()
    for name in dir(_native):
        if not name.startswith("_"):
            assert re.search(rf"^(def {name}\(|class {name}:|{name}: )", stub, re.M), name


def test_types():
    """What the stubs say of the native half is there."""
    from diptych import _native

    stub = (pathlib.Path(diptych.__file__).parent / "_native.pyi").read_text()
    for line in stub.splitlines():
        if line.startswith(("def ", "class ")):
            name = line.split()[1].split("(")[0].rstrip(":")
            assert hasattr(_native, name), name
    assert (pathlib.Path(diptych.__file__).parent / "py.typed").exists()
    mypy = pytest.importorskip("mypy.api")
    said, _, status = mypy.run(["--strict", "-p", "diptych"])
    assert status == 0, said
