"""Ledgers and pages, as Python reads and writes them."""

import pytest
from conftest import people

import diptych


def test_a_ledger_tells_what_was_spent_and_its_cap_can_be_raised(agreement, tmp_path):
    ledger = diptych.Ledger.create(tmp_path / "ledger.jsonl")
    beginning = ledger.head
    table = people(200)
    release = diptych.local(agreement, table, out=tmp_path / "one", ledger=ledger.path, cap=1.5, data_set="people")
    spent = ledger.data_sets["people"]
    assert (spent.spent, spent.cap, spent.cap_towards_peer, spent.runs_without_epsilon) == ("1", "1.5", None, 0)
    (run,) = ledger.runs
    assert (run.release, run.state, run.epsilon, run.is_rehearsal) == ("loans", "finished", "1", False)
    assert run.time.year >= 2024 and ledger.head != beginning
    with pytest.raises(diptych.WrongInput, match="of its cap 1.5"):
        diptych.local(agreement, table, out=tmp_path / "two", ledger=ledger.path, cap="1.5", data_set="people")
    ledger.raise_cap("people", 2)
    assert ledger.data_sets["people"].cap == "2"
    ledger.acknowledge("Bank", "ab" * 32)
    with pytest.raises(diptych.WrongInput):
        ledger.acknowledge("Bank", "no head")
    with pytest.raises(diptych.WrongInput, match="there is no ledger"):
        diptych.Ledger(tmp_path / "nowhere.jsonl")
    page = diptych.report(release, tmp_path / "page.html", error_bars=tmp_path / "bars.csv")
    assert "<html" in page.read_text() and (tmp_path / "bars.csv").exists()
    assert diptych.report(tmp_path / "one").name == "report.html"


def test_a_rehearsal_must_be_agreed_on(couple):
    agreement = diptych.Agreement.from_dict(couple.agreement)
    with pytest.raises(diptych.WrongInput, match="rehears"):
        diptych.rehearse(agreement, couple.party(0, None), couple.tables[0], new_ledger=True)


def test_two_parties_rehearse(couple):
    from concurrent.futures import ThreadPoolExecutor

    couple.agreement["id"]["rehearse"] = True
    agreement = diptych.Agreement.from_dict(couple.agreement)
    import queue

    lines = queue.Queue()
    with ThreadPoolExecutor() as pool:
        bank = pool.submit(
            diptych.rehearse, agreement, couple.party(0, None), couple.tables[0],
            on_progress=lambda progress: lines.put(progress.line), new_ledger=True,
        )
        while not (line := lines.get(timeout=60)).startswith("listening on "):
            pass
        address = line.split("listening on ")[1].split(" ")[0]
        ours = diptych.rehearse(agreement, couple.party(1, address), couple.tables[1], new_ledger=True)
    assert ours == bank.result() == (600, 600, 600, None, False)
