"""Agreements from files, dictionaries and columns."""

from pathlib import Path

import pytest

import diptych
from diptych import _toml

LOANS = Path(__file__).parents[2] / "examples" / "loans" / "agreement.toml"


def test_a_file_and_the_same_keys_in_a_dictionary_are_one_agreement():
    from_file = diptych.Agreement.from_file(LOANS)
    document = {
        "release": {
            "id": "loans-2026q4",
            "partition": "vertical",
            "epsilon": "1.0",
            "specializations": 5,
            "max_records": 100000,
        },
        "parties": {
            "p1": {"name": "Bank", "fingerprint": "sha256:" + "b1" * 32},
            "p2": {"name": "Loan company", "fingerprint": "sha256:" + "1c" * 32},
        },
        "id": {"column": "id", "normalize": ["trim", "uppercase"]},
        "class": {"column": "approved", "values": ["Y", "N"]},
        "attribute": [
            {"name": "job", "owner": "p1", "kind": "categorical", "taxonomy_file": "job.csv"},
            {"name": "sex", "owner": "p2", "kind": "categorical", "taxonomy": {"Any_Sex": ["Male", "Female"]}},
            {"name": "salary", "owner": "p2", "kind": "numeric", "min": 18, "max": 99, "step": 1},
        ],
    }
    from_dict = diptych.Agreement.from_dict(document, beside=LOANS.parent)
    assert from_dict.hash == from_file.hash and from_dict == from_file
    assert from_dict.words() == from_file.words()
    assert from_file.parties["p2"] == ("Loan company", "sha256:" + "1c" * 32)
    document["release"]["epsilon"] = "1.1"
    assert diptych.Agreement.from_dict(document, beside=LOANS.parent).hash != from_file.hash


def test_everything_that_is_wrong_is_told_at_once_with_the_commands_status():
    with pytest.raises(diptych.WrongInput) as caught:
        diptych.Agreement.from_dict({"release": {"id": "x", "epsilom": "1", "partition": "local"}})
    error = caught.value
    assert error.status == 2 and isinstance(error, ValueError)
    assert "problems:" in error.message and "did you mean `epsilon`?" in error.message
    with pytest.raises(diptych.WrongInput, match="cannot be read"):
        diptych.Agreement.from_file("nowhere.toml")
    with pytest.raises(TypeError, match="release.when: object"):
        diptych.Agreement.from_dict({"release": {"when": object()}})


def test_floats_decimals_and_dates_are_exact_text():
    import datetime
    import decimal

    assert _toml.dumps({"a": 0.1, "b": decimal.Decimal("1E-3"), "c": datetime.date(2026, 1, 2), "d": True}) == (
        'a = "0.1"\nb = "0.001"\nc = "2026-01-02"\nd = true\n'
    )
    size = {"kind": "numeric", "min": 0, "max": 1, "step": 0.1}
    columns = {"size": size, "ill": ["yes", "no"]}
    by_float = diptych.Agreement.new(columns, class_column="ill", id="x", epsilon=0.5)
    columns["size"] = {**size, "step": "0.1"}
    assert by_float == diptych.Agreement.new(columns, class_column="ill", id="x", epsilon="0.5")


def test_columns_become_attributes():
    agreement = diptych.Agreement.new(
        {
            "job": {"Any": {"Artist": ["Dancer"], "Other": ["Clerk"]}},
            "land": "builtin:countries",
            "age": range(0, 100, 5),
            "codes": {"kind": "set", "taxonomy": {"Any_code": ["a", "b"]}},
            "ill": ["yes", "no"],
        },
        class_column="ill",
        id="columns",
        epsilon=2,
    )
    kinds = {"job": "categorical", "land": "categorical", "age": "numeric", "codes": "set"}
    assert agreement.attributes == kinds and agreement.epsilon == "2"
    with pytest.raises(KeyError):
        diptych.Agreement.new({"a": ["x", "y"]}, class_column="b", id="x")
    with pytest.raises(ValueError, match="range"):
        diptych.Agreement.new({"a": range(5, 1), "b": ["x", "y"]}, class_column="b", id="x")


def test_a_run_that_would_be_refused_is_refused_by_check(agreement):
    assert any("rows" in line for line in agreement.check())
    assert agreement.outlook(1000) != agreement.outlook(None) or agreement.outlook(1000)


def test_a_forecast_counts_both_sides_of_every_byte():
    agreement = diptych.Agreement.from_file(LOANS)
    p1, p2 = (agreement.forecast(role, 1000, 1000, 900) for role in ("p1", "p2"))
    assert sum(phase.bytes_sent for phase in p1.large.phases) == p1.large.total.bytes_sent
    assert min(p1.usual.rows, p2.usual.rows) > 0
    again = agreement.forecast("p1", 1000, again=True)
    assert again.usual.total.bytes_sent != 0
    with pytest.raises(diptych.WrongInput, match="common records are more than one"):
        agreement.forecast("p1", 10, 10, 11)
    with pytest.raises(diptych.WrongInput, match="role"):
        agreement.forecast("p3", 10)


def test_a_local_agreement_has_no_forecast(agreement):
    with pytest.raises(diptych.WrongInput, match="for one party"):
        agreement.forecast("p1", 10)


@pytest.mark.parametrize("text", ["plain", 'a "quote"', "back\\slash", "tab\t\n\r\x00\x1b\x7f", "Ünï 💠", "a.b = [c]"])
def test_any_text_survives_the_way_through_toml(text):
    tomllib = pytest.importorskip("tomllib")
    document = {"section": {text: text, "list": [text, {"x": text}]}, "tables": [{"k": text}, {"n": 1, "t": True}]}
    assert tomllib.loads(_toml.dumps(document)) == document
