"""Releases by one party, and reading them."""

import datetime
import json
import os
import pathlib
import threading
import time
import warnings

import pytest
from conftest import ledger_events, people

import diptych
from diptych import _native


@pytest.fixture
def release(agreement, tmp_path):
    return diptych.local(
        agreement, people(2000), out=tmp_path / "release", ledger=tmp_path / "l.jsonl", new_ledger=True, cap="2", data_set="people"
    )


def test_a_release_is_entered_in_the_ledger_and_refused_beyond_the_cap(agreement, release, tmp_path):
    assert ledger_events(tmp_path / "l.jsonl") == [("debited", "1"), ("finished", None)]
    more = {"ledger": tmp_path / "l.jsonl", "cap": "2", "data_set": "people"}
    diptych.local(agreement, people(2000), **more)
    with pytest.raises(diptych.WrongInput, match="cap"):
        diptych.local(agreement, people(2000), **more)
    assert len(ledger_events(tmp_path / "l.jsonl")) == 4, "what is refused is not entered"
    with pytest.raises(diptych.WrongInput, match="there is no ledger"):
        diptych.local(agreement, people(2000), ledger=tmp_path / "moved.jsonl", cap="2", data_set="people")
    assert not (tmp_path / "moved.jsonl").exists()


def test_without_a_ledger_it_warns_and_half_of_one_is_refused(agreement, tmp_path):
    with pytest.warns(diptych.NoLedgerWarning, match="nobody adds up what releases of this data spend"):
        diptych.local(agreement, people(100))
    with pytest.raises(diptych.WrongInput, match="largest total"):
        diptych.local(agreement, people(100), ledger=tmp_path / "l")
    with pytest.raises(diptych.WrongInput, match="needs a name for the data"):
        diptych.local(agreement, people(100), ledger=tmp_path / "l", cap=1)
    with pytest.raises(diptych.WrongInput, match="for a ledger"):
        diptych.local(agreement, people(100), cap=1)
    assert not (tmp_path / "l").exists()


def test_a_table_that_does_not_fit_spends_nothing(agreement, tmp_path):
    table = people(100)
    table["job"][5] = "Enginer"
    arguments = {"ledger": tmp_path / "l", "new_ledger": True, "cap": 1, "data_set": "people", "problems": tmp_path / "bad.csv"}
    with pytest.raises(diptych.WrongInput, match="did you mean `Engineer`") as caught:
        diptych.local(agreement, table, **arguments)
    assert not (tmp_path / "l").exists() or ledger_events(tmp_path / "l") == []
    assert "listed in" in caught.value.advice
    assert (tmp_path / "bad.csv").read_text().splitlines()[0] == "column,field,value,count,first_row,nearest,problem"


def test_a_release_reads_back_as_it_was_written(release, tmp_path):
    again = diptych.Release.load(tmp_path / "release")
    assert again.to_dict() == release.to_dict() and again.tree == release.tree
    assert len(again.tree) == 3 and again.tree[0].attribute in again.agreement.attributes
    assert str(again.promise) == "ε = 1, δ ≤ 0"
    lines = (tmp_path / "release" / "release.csv").read_text().splitlines()
    assert len(lines) - 1 == len(again.to_dict()["count"]) == again.manifest["release"]["rows"]
    assert any("as the manifest says" in line for line in again.verify())


def test_a_release_by_one_party_tells_who_signed_it(agreement, tmp_path):
    who = diptych.keygen("Bank", tmp_path / "bank.pem")
    more = {"ledger": tmp_path / "l", "new_ledger": True, "cap": 1, "data_set": "x", "identity": tmp_path / "bank.pem"}
    release = diptych.local(agreement, people(300), out=tmp_path / "signed", **more)
    assert release.verify()[-1].startswith(f"signed     by {who} alone")


def test_a_release_that_was_changed_is_an_exception_and_never_false(release, tmp_path):
    table = tmp_path / "release" / "release.csv"
    table.write_text(table.read_text().replace(",Y,", ",N,", 1))
    with pytest.raises(diptych.Failed, match="does not have the hash"):
        release.verify()
    with pytest.raises(diptych.WrongInput, match="not the release"):
        diptych.Release.load(tmp_path / "release")
    with pytest.raises(diptych.WrongInput):
        diptych.Release.load(tmp_path / "nowhere")


def test_rows_are_as_many_as_people_are_counted(release):
    pandas = pytest.importorskip("pandas")
    frame, rows = release.to_pandas(), release.rows()
    assert len(rows) == frame["count"].sum() and "count" not in rows
    counted = rows.value_counts().to_dict()
    names = list(rows.columns)
    assert counted == {tuple(row[name] for name in names): row["count"] for _, row in frame.iterrows() if row["count"]}
    seed = "07" * 32
    concrete = release.rows(concrete=True, seed=seed)
    assert concrete["salary"].dtype.kind == "i" and concrete["salary"].between(18, 99).all()
    pandas.testing.assert_frame_equal(concrete, release.rows(concrete=True, seed=bytes([7] * 32)))
    assert not concrete.equals(release.rows(concrete=True))
    with pytest.raises(diptych.WrongInput):
        release.rows(seed=seed)
    with pytest.raises(diptych.WrongInput, match="undivided is for concrete rows"):
        release.rows(undivided=True)


def test_concrete_rows_leave_out_what_was_not_divided(tmp_path):
    pytest.importorskip("pandas")
    agreement = diptych.Agreement.new(
        {"job": ["Engineer", "Writer"], "age": range(0, 100), "ill": ["yes", "no"]},
        class_column="ill", id="one-step", max_records=10_000, specializations=1,
    )
    people = {"job": ["Engineer", "Writer"] * 500, "age": [7] * 1000, "ill": ["yes", "no"] * 500}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = diptych.local(agreement, people, out=tmp_path / "release")
    [(divided, values)] = [(name, values) for name, values in release.divided.items() if values]
    undivided = ({"job", "age"} - {divided}).pop()
    assert values == 2 and release.divided[undivided] is None
    assert list(release.rows().columns) == ["job", "age", "ill"]
    assert list(release.rows(concrete=True).columns) == [divided, "ill"]
    assert list(release.rows(concrete=True, undivided=True).columns) == ["job", "age", "ill"]


def test_missing_numbers_and_dates_come_back_from_concrete_rows(tmp_path):
    pytest.importorskip("pandas")
    agreement = diptych.Agreement.from_dict({
        "release": {
            "id": "visits", "partition": "local", "epsilon": "8", "specializations": 2, "max_records": 10_000,
        },
        "class": {"column": "ill", "values": ["yes", "no"]},
        "attribute": [
            {"name": "weight", "kind": "numeric", "edges": ["0", "50"], "missing": "category"},
            {"name": "visit", "kind": "date", "min": "2026-01-01", "max": "2026-02-28"},
        ],
    })
    people = {
        "weight": [None, 20.5] * 1000,
        "visit": [datetime.date(2026, 1, 5), datetime.date(2026, 2, 6)] * 1000,
        "ill": ["yes", "no"] * 1000,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = diptych.local(agreement, people, out=tmp_path / "release")
    rows = release.rows(concrete=True, undivided=True)
    assert 500 < rows["weight"].isna().sum() < 1500 and rows["weight"].dropna().between(0, 50).all()
    assert rows["visit"].str.match(r"2026-0[12]-\d\d").all()


def test_the_picture_is_a_page_of_its_own_without_a_script(release, tmp_path):
    shown = release._repr_html_()
    assert shown.startswith("<iframe sandbox srcdoc=") and "&lt;svg class=&quot;tree&quot;" in shown
    assert "script&gt;" not in shown
    (tmp_path / "release" / "manifest.json").write_text("{}")
    assert "<pre>" in release._repr_html_(), "what does not verify gets no picture"


def test_what_is_public_can_be_copied_elsewhere(release, tmp_path):
    copy = release.save(tmp_path / "copy")
    assert copy.verify() == release.verify()
    assert sorted(os.listdir(tmp_path / "copy")) == ["manifest.json", "release.csv", "report.html"]
    with pytest.raises(FileExistsError):
        release.save(tmp_path / "copy")


def test_a_release_without_a_place_is_gone_with_its_object(agreement):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = diptych.local(agreement, people(100))
    place = release.directory
    assert place.exists()
    del release
    assert not place.exists()


def test_progress_is_told_in_lines_and_phases_by_the_thread_that_called(agreement, tmp_path):
    told = []
    diptych.local(agreement, people(5000), out=tmp_path / "r", ledger=tmp_path / "l", new_ledger=True, cap=1, data_set="x",
                  on_progress=lambda progress: told.append((progress, threading.current_thread())))
    assert {thread for _, thread in told} == {threading.current_thread()}
    progress = [progress for progress, _ in told]
    assert any(it.line == "read 5000 records" for it in progress)
    assert any(it.phase == "reading" and it.total == 5000 for it in progress)


def test_an_exception_of_the_callback_is_the_callers(agreement, tmp_path):
    def told(progress):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        diptych.local(agreement, people(100), out=tmp_path / "r", ledger=tmp_path / "l", new_ledger=True, cap=1, data_set="x", on_progress=told)


def test_other_threads_go_on_meanwhile(couple):
    """A run that waits for nobody does not hold Python's lock."""
    ticks = []
    ended = threading.Event()

    def tick():
        while not ended.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        party = {**couple.party(0, None), "wait_seconds": 1}
        with pytest.raises(diptych.Failed):
            diptych.run(diptych.Agreement.from_dict(couple.agreement), party, couple.tables[0], new_ledger=True)
    finally:
        ended.set()
        thread.join()
    assert len(ticks) > 20


def test_no_wheel_has_what_tests_need():
    native = pathlib.Path(_native.__file__).read_bytes()
    if os.environ.get("DIPTYCH_TEST_SEED"):
        pytest.skip("this is the build for one test")
    assert b"DIPTYCH_TEST_SEED" not in native and b"exact-counts" not in native


def test_failures_can_be_sent_between_processes():
    import pickle

    error = pickle.loads(pickle.dumps(diptych.WrongInput("a", "b")))
    assert (error.status, error.message, error.advice, str(error)) == (2, "a", "b", "a\n help: b")
    assert json.dumps(str(diptych.Interrupted("stopped")))
    kinds = {1: "Failed", 2: "WrongInput", 3: "PeerRefused", 4: "FailedAfterSpending", 130: "Interrupted"}
    for status, kind in kinds.items():
        error = diptych._errors.of_status(status, "a", None)
        assert type(error) is getattr(diptych, kind) and error.status == status
    assert not issubclass(diptych.Interrupted, Exception) and issubclass(diptych.Interrupted, KeyboardInterrupt)
