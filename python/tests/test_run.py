"""Two parties in two processes over TLS: releases, and what faults leave behind."""

import json
import signal
import time

import pytest
from conftest import Couple, Process

import diptych


def both(couple, first=None, second=None):
    bank = couple.start(0, **(first or {}))
    company = couple.start(1, bank.address(), **(second or {}))
    return bank.end(), company.end()


@pytest.mark.parametrize("frame", ["dict", "pandas", "polars"])
def test_two_parties_end_with_one_table_signed_by_both(couple, frame):
    if frame != "dict":
        pytest.importorskip(frame)
    one, two = both(couple, {"frame": frame}, {"frame": frame})
    assert one["rows"] == two["rows"] > 0, (one, two)
    releases = [diptych.Release.load(result["out"]) for result in (one, two)]
    assert releases[0].to_dict() == releases[1].to_dict()
    for who, release in enumerate(releases):
        found = release.verify(ledger=couple.place / f"p{who + 1}.jsonl")
        assert sum("signed     by" in line for line in found) == 2
        assert couple.ledger(who)[0] == ("debited", "1") and couple.ledger(who)[-1][0] == "finished"


def test_a_party_file_can_be_given_and_its_table_replaced(couple):
    path = couple.place / "bank.toml"
    keys = couple.party(0, None)
    keys.update(identity="p1.pem", ledger="p1.jsonl", out="p1-release", data="customers.csv", data_set="customers")
    path.write_text("\n".join(f"{key} = {json.dumps(value)}" for key, value in keys.items()))
    agreement = couple.place / "agreement.toml"
    from diptych import _toml

    agreement.write_text(_toml.dumps(couple.agreement))
    one, two = both(couple, {"party": str(path), "agreement": str(agreement)})
    assert one["rows"] == two["rows"], (one, two)
    assert '"data_set":"customers"' in (couple.place / "p1.jsonl").read_text()


def test_a_column_of_a_wrong_kind_ends_it_before_anybody_connects(couple):
    couple.tables[0]["job"] = [3] * len(couple.tables[0]["job"])
    ended = couple.start(0).end()
    assert (ended["error"], ended["status"]) == ("WrongInput", 2)
    assert "column `job`" in ended["message"] and "`3` is not a value of the taxonomy" in ended["message"]
    assert couple.ledger(0) == [], "nothing was spent"


def test_ctrl_c_while_it_waits_spends_nothing(couple):
    bank = couple.start(0)
    bank.address()
    time.sleep(0.3)
    bank.child.send_signal(signal.SIGINT)
    ended = bank.end()
    assert (ended["error"], ended["status"], ended["cause"]) == ("Interrupted", 130, "KeyboardInterrupt")
    assert "nothing was spent" in ended["advice"] and couple.ledger(0) == []


def test_ctrl_c_in_the_middle_says_what_is_spent_and_tells_the_peer(tmp_path):
    couple = Couple(tmp_path, 3000, specializations=10)
    one, two = both(couple, {"at": "both ledgers are debited", "then": "interrupt"})
    assert (one["error"], one["status"]) == ("Interrupted", 130), one
    assert "ε 1 is spent and there is no release" in one["advice"]
    assert (two["error"], two["status"]) == ("Failed", 1) and "stopped on purpose" in two["message"], two
    for who in (0, 1):
        assert couple.ledger(who)[0] == ("debited", "1") and couple.ledger(who)[-1][0] == "aborted"
        assert not (tmp_path / f"p{who + 1}-release" / "manifest.json").exists()


def test_a_peer_that_dies_is_told_and_the_ledger_is_true(tmp_path):
    couple = Couple(tmp_path, 3000, specializations=10)
    bank = couple.start(0)
    company = couple.start(1, bank.address(), at="both ledgers are debited", then="die")
    ended = bank.end()
    company.child.wait()
    assert (ended["error"], ended["status"]) == ("Failed", 1), ended
    assert "ε 1 is spent and there is no release" in ended["advice"]
    assert couple.ledger(0)[0] == ("debited", "1") and couple.ledger(0)[-1][0] == "aborted"
    assert [name for name, _ in couple.ledger(1)] != [] and couple.ledger(1)[-1][0] != "finished"


def test_an_exception_of_the_callback_ends_a_run_in_order(tmp_path):
    couple = Couple(tmp_path, 3000, specializations=10)
    one, two = both(couple, {"at": "both ledgers are debited", "then": "raise"})
    assert (one["error"], one["text"], one["cause"]) == ("RuntimeError", "the callback failed", "Interrupted")
    assert two["status"] == 1 and couple.ledger(0)[-1][0] == "aborted"


def test_a_peer_under_another_agreement_is_refused(couple):
    bank = couple.start(0)
    address = bank.address()
    couple.agreement["release"]["epsilon"] = "2"
    two = couple.start(1, address).end()
    assert (two["error"], two["status"]) == ("PeerRefused", 3) and "epsilon" in two["advice"], two
    one = bank.end()
    assert one["status"] == 3 and couple.ledger(0) == couple.ledger(1) == []


def conversation(couple, first, second):
    """Two processes that talk without a release."""
    keys = [str(couple.place / f"p{who + 1}.pem") for who in (0, 1)]
    common = {"wait_seconds": 30}
    arguments = {"role": "p1", "identity": keys[0], "peer": couple.prints[1], "listen": "127.0.0.1:0", **common}
    one = Process({**first, "arguments": {**arguments, **first.get("arguments", {})}})
    arguments = {"role": "p2", "identity": keys[1], "peer": couple.prints[0], "connect": one.address(), **common}
    two = Process({**second, "arguments": {**arguments, **second.get("arguments", {})}})
    return one.end(), two.end()


def test_common_identifiers_are_found_counted_or_compared(couple):
    ours, theirs = ["a1", "b2", "c3", "d4"], ["x9", " C3", "A1"]
    spec = {"what": "psi", "arguments": {}}
    one, two = conversation(couple, {**spec, "identifiers": ours}, {**spec, "identifiers": theirs})
    assert [ours[row] for row in one["rows"]] == [theirs[row].strip().lower() for row in two["rows"]]
    assert sorted(one["rows"]) == [0, 2] and (one["size"], one["peer_size"], two["peer_size"]) == (2, 3, 4)
    for arguments, expected in (({"cardinality": True}, (2, None)), ({"threshold": 2}, (None, True)), ({"threshold": 3}, (None, False))):
        spec["arguments"] = arguments
        one, two = conversation(couple, {**spec, "identifiers": ours}, {**spec, "identifiers": theirs})
        assert (one["size"], one["reached"]) == (two["size"], two["reached"]) == expected, (one, two)
        assert one["rows"] is None


def test_a_circuit_is_run_between_two_processes(couple):
    from pathlib import Path

    file = str(Path(__file__).parents[2] / "circuits" / "less_than_64.txt")
    spec = {"what": "circuit", "file": file}
    small, large = {**spec, "inputs": [41]}, {**spec, "inputs": [42]}
    assert conversation(couple, small, large) == ({"outputs": [1]}, {"outputs": [1]})
    small["arguments"] = large["arguments"] = {"reveal": "p2"}
    assert conversation(couple, large, small) == ({"outputs": None}, {"outputs": [0]})
