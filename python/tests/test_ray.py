"""Shards as Ray actors: two parties, each with a Ray instance of its own on this machine."""

import json
import socket

import pytest
from conftest import Couple, Process, people

import diptych
import diptych.ray

SHARDS = 4
#: Two instances of Ray take their time to start on a small machine.
PATIENCE = 240


def test_without_ray_it_says_what_to_install(monkeypatch, couple):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install 'diptych\[ray\]'"):
        diptych.ray.run(diptych.Agreement.from_dict(couple.agreement), couple.party(0, None), [])


def needs_ray():
    pytest.importorskip("ray", reason="Ray is not installed: pip install ray")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed, which Ray Data needs")


def free_ports(count):
    """The first of so many ports that nobody has."""
    for first in range(21_000, 32_000, count):
        try:
            for port in range(first, first + count):
                with socket.create_server(("127.0.0.1", port)):
                    pass
            return first
        except OSError:
            continue
    raise AssertionError("no ports are free")


def split(table, parts):
    """A table's rows in so many parts, one of which is empty."""
    rows = len(next(iter(table.values())))
    ends = [rows * number // (parts - 1) for number in range(parts)] + [rows]
    return [{name: values[a:b] for name, values in table.items()} for a, b in zip(ends, ends[1:])]


def parquet(couple, who, parts):
    import pyarrow
    import pyarrow.parquet

    paths = [str(couple.place / f"p{who + 1}-{number}.parquet") for number in range(len(parts))]
    for path, part in zip(paths, parts):
        pyarrow.parquet.write_table(pyarrow.table(part), path)
    return paths


def sides(tmp_path):
    """Two parties with people in shards, and what each of their processes is told to do."""
    couple = Couple(tmp_path)
    couple.agreement["scale"] = {"shards": SHARDS}
    port = free_ports(SHARDS + 1)
    address = f"127.0.0.1:{port}"

    def spec(who, **more):
        meeting = {"listen": address} if who == 0 else {"connect": address}
        party = {**couple.party(who, address), "wait_seconds": 120, "silence_seconds": 120, **meeting}
        return {"agreement": couple.agreement, "party": party, "what": "ray", **more}

    return couple, spec


def test_actors_make_the_release_from_partitions_of_any_kind(tmp_path):
    needs_ray()
    couple, spec = sides(tmp_path)
    frames = split(couple.tables[0], 3)
    paths = parquet(couple, 1, split(couple.tables[1], 4))
    bank = Process(spec(0, frame="pandas", partitions=frames))
    company = Process(spec(1, frame="dataset", partitions=paths[:-1]))
    one, two = bank.end(PATIENCE), company.end(PATIENCE)
    assert one.get("rows") == two.get("rows") and one.get("rows"), (one, two)
    releases = [diptych.Release.load(result["out"]) for result in (one, two)]
    assert releases[0].to_dict() == releases[1].to_dict()
    for who in (0, 1):
        assert couple.ledger(who)[-1][0] == "finished"
        costs = json.loads((tmp_path / f"p{who + 1}-release" / "private" / "costs.json").read_text())
        assert costs["as_forecast"] is True and costs["common_records"] == 600, costs


def test_horizontally_actors_count_and_meet_nobody(tmp_path):
    needs_ray()
    couple, spec = sides(tmp_path)
    couple.agreement["release"]["partition"] = "horizontal"
    del couple.agreement["id"]
    for attribute in couple.agreement["attribute"]:
        del attribute["owner"]
    couple.tables = [people(300), people(300, start=300)]
    bank = Process(spec(0, frame="pandas", partitions=split(couple.tables[0], 3)))
    # A peer without Ray, and without a word of ports.
    company = Process(spec(1, what="run", frame="dict", table=couple.tables[1]))
    one, two = bank.end(PATIENCE), company.end(PATIENCE)
    assert one.get("rows") == two.get("rows") and one.get("rows"), (one, two)
    releases = [diptych.Release.load(result["out"]) for result in (one, two)]
    assert releases[0].to_dict() == releases[1].to_dict()
    for who in (0, 1):
        assert couple.ledger(who)[-1][0] == "finished"
        costs = json.loads((tmp_path / f"p{who + 1}-release" / "private" / "costs.json").read_text())
        assert costs["as_forecast"] is True, costs


def test_an_actor_that_dies_ends_the_run_and_the_ledgers_are_true(tmp_path):
    needs_ray()
    couple, spec = sides(tmp_path)
    paths = parquet(couple, 0, split(couple.tables[0], 3))
    bank = Process(spec(0, frame="paths", partitions=paths, kill_at="both ledgers are debited"))
    plain = {"what": "run", "frame": "dict", "table": couple.tables[1], "shard_ports": True}
    company = Process(spec(1, **plain))
    one, two = bank.end(PATIENCE), company.end(PATIENCE)
    assert (one["status"], two["status"]) == (1, 1), (one, two)
    assert "is no more" in one["message"] and "ε 1 is spent" in one["advice"], one
    for who in (0, 1):
        assert couple.ledger(who)[0] == ("debited", "1") and couple.ledger(who)[-1][0] == "aborted"
        assert not (tmp_path / f"p{who + 1}-release" / "manifest.json").exists()


def test_somebody_who_is_in_two_partitions_is_found_before_anything_is_spent(tmp_path):
    needs_ray()
    couple, spec = sides(tmp_path)
    twice = [couple.tables[0], {name: values[:1] for name, values in couple.tables[0].items()}]
    bank = Process(spec(0, frame="dict", partitions=twice))
    plain = {"what": "run", "frame": "dict", "table": couple.tables[1], "shard_ports": True}
    company = Process(spec(1, **plain))
    one = bank.end(PATIENCE)
    company.stop()
    assert (one["status"], couple.ledger(0)) == (2, []), one
    assert "in the records twice" in one["message"] and "one record" in one["advice"], one
