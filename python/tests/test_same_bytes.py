"""With one tape, Python and the command make the same release, byte for byte.

A tape needs a build with the feature `testing`, which no wheel has: python/check makes one for these
tests, and says where it is and where a command with the same feature is.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PATIENCE, Couple, Process, people

from diptych import _toml

PACKAGE = os.environ.get("DIPTYCH_TESTING_PACKAGE")
COMMAND = os.environ.get("DIPTYCH_TESTING_COMMAND")
pytestmark = pytest.mark.skipif(
    not (PACKAGE and COMMAND), reason="there is no build with the feature `testing` here"
)


def environment(seed):
    return {**os.environ, "PYTHONPATH": PACKAGE, "DIPTYCH_TEST_SEED": str(seed)}


def write_csv(path, table):
    rows = zip(*table.values())
    lines = [",".join(table)] + [",".join(map(str, row)) for row in rows]
    path.write_text("\n".join(lines) + "\n")


def command(seed, *words):
    done = subprocess.run([COMMAND, *map(str, words)], env=environment(seed), capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("frame", ["pandas", "polars", "dict"])
def test_a_release_alone(tmp_path, frame):
    if frame != "dict":
        pytest.importorskip(frame)
    table = people(2000)
    document = {
        "release": {"id": "loans", "partition": "local", "epsilon": "1", "max_records": 100_000, "specializations": 3},
        "class": {"column": "approved", "values": ["Y", "N"]},
        "attribute": [
            {"name": "job", "kind": "categorical", "taxonomy": {"Any": ["Engineer", "Lawyer", "Dancer", "Writer"]}},
            {"name": "salary", "kind": "numeric", "min": 18, "max": 99, "step": 1},
        ],
    }
    (tmp_path / "agreement.toml").write_text(_toml.dumps(document))
    write_csv(tmp_path / "table.csv", table)
    made = {}
    for seed in (7, 8):
        command(seed, "local", "--agreement", tmp_path / "agreement.toml", "--data", tmp_path / "table.csv", "--out", tmp_path / f"command-{seed}")
        spec = {"what": "local", "agreement": str(tmp_path / "agreement.toml"), "table": table, "frame": frame, "out": str(tmp_path / f"python-{seed}")}
        assert "out" in Process(spec, environment(seed)).end()
        for name in ("release.csv", "manifest.json"):
            by_command, by_python = ((tmp_path / f"{who}-{seed}" / name).read_bytes() for who in ("command", "python"))
            assert by_command == by_python, name
            made[name, seed] = by_python
    assert made["release.csv", 7] != made["release.csv", 8], "the tape is what decides"


def test_a_release_by_two(tmp_path):
    couple = Couple(tmp_path, 400)
    # Noise that is drawn ahead rests on transfers, which no seed repeats; here coins decide alone.
    couple.agreement["release"].update(selection="exponential", noise="two-party")
    (tmp_path / "agreement.toml").write_text(_toml.dumps(couple.agreement))
    for who in (0, 1):
        write_csv(tmp_path / f"p{who + 1}.csv", couple.tables[who])

    def by_command(who, address):
        out = {**couple.party(who, address), "out": str(tmp_path / f"command-{who}"), "ledger": str(tmp_path / f"command-{who}.jsonl"), "data": str(tmp_path / f"p{who + 1}.csv")}
        party = tmp_path / f"party-{who}.toml"
        party.write_text("\n".join(f"{key} = {json.dumps(value)}" for key, value in out.items()))
        words = [COMMAND, "run", "--new-ledger", "--agreement", str(tmp_path / "agreement.toml"), "--party", str(party)]
        return subprocess.Popen(words, env=environment(11 + who), stderr=subprocess.PIPE, text=True)

    bank = by_command(0, None)
    for line in bank.stderr:
        if "listening on" in line:
            break
    company = by_command(1, line.split("listening on ")[1].split(" ")[0])
    assert company.wait(PATIENCE) == 0 and bank.wait(PATIENCE) == 0

    def by_python(who, address=None):
        spec = {"what": "run", "agreement": couple.agreement, "party": couple.party(who, address), "table": couple.tables[who], "frame": "dict"}
        return Process(spec, environment(11 + who))

    one = by_python(0)
    two = by_python(1, one.address())
    assert one.end()["rows"] == two.end()["rows"]
    released = [Path(place, "release.csv").read_bytes() for place in (tmp_path / "command-0", tmp_path / "command-1", tmp_path / "p1-release", tmp_path / "p2-release")]
    assert released.count(released[0]) == 4


def test_the_build_for_tests_is_the_one_that_was_used():
    said = subprocess.run([sys.executable, "-c", "import diptych; print(diptych.__file__)"], env=environment(1), capture_output=True, text=True)
    assert said.stdout.startswith(PACKAGE)
