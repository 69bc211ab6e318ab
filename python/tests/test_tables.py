"""Tables of every library give the release that their file would give, cell by cell."""

import math

import pytest
from conftest import people

import diptych
from diptych import _native, _tables

COLUMNS = ["job", "sex", "salary", "approved"]


def release_of(agreement, table):
    with pytest.warns(diptych.NoLedgerWarning):
        return diptych.local(agreement, table)


def problem(agreement, table):
    with pytest.warns(diptych.NoLedgerWarning), pytest.raises(diptych.WrongInput) as caught:
        diptych.local(agreement, table)
    return str(caught.value)


def pandas_frame(table):
    return pytest.importorskip("pandas").DataFrame(table)


def pandas_categories(table):
    frame = pandas_frame(table)
    return frame.astype({"job": "category", "sex": "category", "salary": "float64"})


def pandas_odd_index(table):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table, index=[f"r{n}" for n in range(len(table["job"]))])
    frame["extra"] = [{"a": 1}, object()] * (len(frame) // 2)
    return frame


def pandas_nullable(table):
    frame = pandas_frame(table)
    return frame.astype({"salary": "Int16", "job": "string", "sex": object})


def polars_frame(table):
    polars = pytest.importorskip("polars")
    return polars.DataFrame(table)


def polars_typed(table):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(table).with_columns(
        polars.col("job").cast(polars.Categorical), polars.col("salary").cast(polars.UInt8)
    )
    return polars.concat([frame[:100], frame[100:]], rechunk=False)


def arrow_table(table):
    return pytest.importorskip("pyarrow").table(table)


def arrow_batches(table):
    pyarrow = pytest.importorskip("pyarrow")
    whole = pyarrow.table(
        {
            "salary": pyarrow.array(table["salary"], pyarrow.int32()),
            "job": pyarrow.array(table["job"], pyarrow.large_utf8()).dictionary_encode(),
            "sex": pyarrow.array(table["sex"], pyarrow.string_view()),
            "approved": pyarrow.array(table["approved"]).dictionary_encode(),
            "noise": pyarrow.array([b"x"] * len(table["job"])),
        }
    )
    # Slices begin in the middle of their buffers.
    return pyarrow.concat_tables([whole.slice(0, 17), whole.slice(17, 200), whole.slice(217)])


def numpy_columns(table):
    numpy = pytest.importorskip("numpy")
    return {name: numpy.array(column) for name, column in table.items()}


def plain_columns(table):
    return {name: tuple(column) for name, column in table.items()}


KINDS = [
    pandas_frame,
    pandas_categories,
    pandas_odd_index,
    pandas_nullable,
    polars_frame,
    polars_typed,
    arrow_table,
    arrow_batches,
    numpy_columns,
    plain_columns,
]


@pytest.fixture
def exact():
    """An agreement with so much ε that counts are true, nearly surely."""
    return diptych.Agreement.new(
        {"job": ["Engineer", "Lawyer", "Dancer", "Writer"], "sex": ["Male", "Female"], "approved": ["Y", "N"]},
        class_column="approved",
        id="exact",
        epsilon=100,
        selection="permute-and-flip",
        max_records=100_000,
        specializations=2,
    )


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_every_kind_of_table_is_read_to_the_last_cell(exact, make):
    table = people(400)
    release = release_of(exact, make(table))
    counted = {}
    for row in zip(table["job"], table["sex"], table["approved"]):
        counted[row] = counted.get(row, 0) + 1
    columns = release.to_dict()
    rows = zip(columns["job"], columns["sex"], columns["approved"])
    assert {row: count for row, count in zip(rows, columns["count"]) if count} == counted


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_numbers_of_every_kind_are_numbers(agreement, make):
    assert release_of(agreement, make(people(300))).verify()
    table = people(300)
    table["salary"][7] = 17
    said = problem(agreement, make(table))
    assert "row 8: column `salary`" in said and "`17` is outside 18 to 99" in said


def test_a_file_is_a_table_too(agreement, tmp_path):
    table = people(50)
    lines = [",".join(COLUMNS)] + [",".join(str(table[name][n]) for name in COLUMNS) for n in range(50)]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    assert release_of(agreement, path).verify()
    assert release_of(agreement, str(path)).verify()
    path.write_text("\n".join(lines[:2] + ["Enginer,Male,20,Y"]) + "\n")
    assert f"{path}:3: column `job`" in problem(agreement, path)


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table, plain_columns])
def test_a_missing_value_is_named_by_column_and_row(agreement, make):
    table = people(20)
    table["job"][3] = None
    said = problem(agreement, make(table))
    assert "the table, row 4: column `job`" in said and "is empty" in said


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table, plain_columns])
def test_a_missing_column_is_told_with_the_one_that_was_meant(agreement, make):
    table = people(20)
    table["wages"] = table["salary"]
    table["saIary"] = table.pop("salary")
    said = problem(agreement, make(table))
    assert said.startswith("the table: the column `salary` is missing (is it the one called `saIary`?)")


def test_a_column_of_a_wrong_type_is_named_with_its_type_unless_nobody_wants_it(agreement):
    pyarrow = pytest.importorskip("pyarrow")
    table = people(3)
    bad = {
        "timestamp with a time zone": pyarrow.array([1, 2, 3], pyarrow.timestamp("s", "UTC")),
        "decimal": pyarrow.array([1, 2, 3], pyarrow.decimal128(5, 2)),
        "list": pyarrow.array([[1], [2], []]),
        "binary": pyarrow.array([b"a", b"b", b"c"]),
        "struct": pyarrow.array([{"a": 1}] * 3),
    }
    for name, column in bad.items():
        said = problem(agreement, pyarrow.table({**table, "salary": column}))
        assert f"the table: column `salary`: its type is {name}" in said
        assert len(_tables.read(pyarrow.table({**table, "more": column}), ["job"])) == 3
    import datetime

    with pytest.raises(diptych.WrongInput, match="column `job`: the value in row 1 is of type timedelta"):
        diptych.local(agreement, {**table, "job": [datetime.timedelta(1)] * 3})


def test_truth_and_floats_are_written_as_python_writes_them():
    pyarrow = pytest.importorskip("pyarrow")
    agreement = diptych.Agreement.new(
        {"smokes": ["True", "False"], "size": {"kind": "numeric", "min": "0.0", "max": "3.0", "step": "0.5"}, "c": ["1", "2"]},
        class_column="c", id="kinds", specializations=1, max_records=1000,
    )
    table = {"smokes": [True, False, True], "size": [0.5, 1.0, 2.75], "c": [1, 2, 1]}
    assert release_of(agreement, table).verify()
    assert release_of(agreement, pyarrow.table(table)).verify()
    single = pyarrow.table({**table, "size": pyarrow.array(table["size"], pyarrow.float32())})
    assert release_of(agreement, single).verify()
    for missing in (math.nan, None):
        said = problem(agreement, {**table, "size": [missing, 1.0, 2.0]})
        assert "row 1: column `size`" in said
    assert "row 2: column `size`" in problem(agreement, {**table, "size": [1.0, math.inf, 2.0]})


def test_values_of_every_library_have_the_text_of_a_file():
    import datetime
    import decimal

    pandas, numpy = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    texts = [
        (datetime.date(1899, 12, 31), "1899-12-31"),
        (datetime.datetime(2026, 1, 2), "2026-01-02"),
        (datetime.datetime(2026, 1, 2, 3, 4), "2026-01-02T03:04:00"),
        (pandas.Timestamp("2024-02-29"), "2024-02-29"),
        (pandas.NaT, ""),
        (pandas.NA, ""),
        (numpy.datetime64("2024-02-29T00:00:00", "ns"), "2024-02-29"),
        (numpy.datetime64("NaT"), ""),
        (numpy.int16(-3), "-3"),
        (numpy.bool_(True), "True"),
        (numpy.float64(0.1), "0.1"),
        (decimal.Decimal("1E-3"), "0.001"),
        (True, "True"),
    ]
    for value, text in texts:
        assert _native.value_text(value) == text, repr(value)
    assert _native.value_text(object()) is None


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table, numpy_columns, plain_columns])
def test_dates_are_read_as_iso_8601(make):
    import datetime

    agreement = diptych.Agreement.new(
        {"seen": ["1899-12-31", "2024-02-29", "2000-03-01"], "c": ["1", "2"]},
        class_column="c", id="dates", specializations=1, max_records=1000, epsilon=100,
    )
    days = [datetime.date(1899, 12, 31), datetime.date(2024, 2, 29), datetime.date(2000, 3, 1)] * 50
    for seen in (days, [datetime.datetime(day.year, day.month, day.day) for day in days]):
        columns = release_of(agreement, make({"seen": seen, "c": ["1", "2"] * 75})).to_dict()
        assert set(columns["seen"]) == {"1899-12-31", "2024-02-29", "2000-03-01"}


def test_what_is_no_table_is_refused_with_words(agreement):
    with pytest.raises(TypeError, match="int is not a table"):
        diptych.local(agreement, 5)
    with pytest.raises(TypeError, match="column `sex` has 2 values, and one before it has 3"):
        table = {**people(3), "sex": ["Male", "Male"]}
        diptych.local(agreement, {name: table[name] for name in COLUMNS})
    pyarrow = pytest.importorskip("pyarrow")
    stream = pyarrow.table({"a": [1]}).__arrow_c_stream__()
    _native.Table.from_stream(stream, [])
    with pytest.raises(diptych.WrongInput, match="was used already"):
        _native.Table.from_stream(stream, [])
    with pytest.raises(diptych.WrongInput, match="one column"):
        _native.Table.from_stream(pyarrow.chunked_array([[1, 2]]).__arrow_c_stream__(), [])


def test_floats_have_one_text_in_tables_and_in_set_intersections():
    numbers = {-0.0: "0", 1e-7: "0.0000001", 1e23: "100000000000000000000000", 7.0: "7", 2.5: "2.5"}
    for number, text in numbers.items():
        assert diptych._identifier(1, number) == text
