"""Both parties on this machine, as two processes: a release, and what a classifier learns from it.

    python examples/two_parties.py [PEOPLE]

Every cell below could be a notebook cell. A bank knows jobs, a loan company knows salaries and ages,
and both know whether a loan was approved. The people are made up.
"""

# %% Who the parties are. Each makes its own identity; here both do in one place.
import multiprocessing
import random
import sys
import tempfile
from pathlib import Path

import pandas

import diptych

JOBS = {
    "Any_Job": {
        "Professional": ["Engineer", "Lawyer", "Doctor"],
        "Artist": ["Dancer", "Writer"],
        "Trade": ["Baker", "Mason", "Tailor"],
    }
}
LEAVES = [job for group in JOBS["Any_Job"].values() for job in group]


# %% Made-up people: a loan is approved by salary, less strictly for professionals, and a bit by chance.
def people(count, seed):
    draw = random.Random(seed)
    rows = []
    for number in range(count):
        job, salary, age = draw.choice(LEAVES), draw.randint(18, 99), draw.randint(18, 75)
        enough = 40 if job in JOBS["Any_Job"]["Professional"] else 62
        good = salary + draw.gauss(0, 6) + (4 if 30 <= age < 60 else 0) > enough
        rows.append((f"c-{number}", job, salary, age, "Y" if good else "N"))
    return pandas.DataFrame(rows, columns=["id", "job", "salary", "age", "approved"])


# %% One party's side: all it needs is the agreement, its own table and its own files.
def side(role, agreement, table, place, meeting):
    party = {
        "role": role,
        "identity": str(place / f"{role}.pem"),
        "ledger": str(place / f"{role}.jsonl"),
        "cap": "3",
        "data_set": "people",
        "out": str(place / f"{role}-release"),
        **meeting,
    }
    told = print if role == "p1" else None
    diptych.run(diptych.Agreement.from_dict(agreement), party, table, on_progress=told, new_ledger=True)


# %% A classifier on records, whose values are numbers and names.
def accuracy(train, test):
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    columns = ["job", "salary", "age"]
    names = make_column_transformer((OneHotEncoder(categories=[LEAVES]), ["job"]), remainder="passthrough")
    model = make_pipeline(names, DecisionTreeClassifier(max_depth=6, random_state=1))
    model.fit(train[columns], train["approved"])
    return model.score(test[columns], test["approved"])


def main(place, count=20_000):
    # %% The agreement, and a table for each.
    prints = {role: diptych.keygen(name, place / f"{role}.pem") for role, name in (("p1", "Bank"), ("p2", "Loan company"))}
    agreement = {
        "release": {"id": "loans", "partition": "vertical", "epsilon": "1", "specializations": 8, "max_records": 100_000},
        "parties": {
            "p1": {"name": "Bank", "fingerprint": prints["p1"]},
            "p2": {"name": "Loan company", "fingerprint": prints["p2"]},
        },
        "id": {"column": "id", "normalize": ["trim", "uppercase"]},
        "class": {"column": "approved", "values": ["Y", "N"]},
        "attribute": [
            {"name": "job", "owner": "p1", "kind": "categorical", "taxonomy": JOBS},
            {"name": "salary", "owner": "p2", "kind": "numeric", "min": 18, "max": 99, "step": 1},
            {"name": "age", "owner": "p2", "kind": "numeric", "min": 18, "max": 75, "step": 1},
        ],
    }
    known = people(count, 1)
    tables = {"p1": known[["id", "job", "approved"]], "p2": known[["id", "salary", "age", "approved"]]}

    # %% Both sides, each in a process of its own.
    port = random.randint(20_000, 40_000)
    meetings = {"p1": {"listen": f"127.0.0.1:{port}"}, "p2": {"connect": f"127.0.0.1:{port}"}}
    start = multiprocessing.get_context("spawn").Process
    both = [start(target=side, args=(role, agreement, tables[role], place, meetings[role])) for role in meetings]
    for party in both:
        party.start()
    for party in both:
        party.join()
        if party.exitcode != 0:
            raise SystemExit("a party failed: see above")

    # %% What came out: the same table at both, signed by both.
    release = diptych.Release.load(place / "p1-release")
    print(*release.verify(ledger=place / "p1.jsonl"), sep="\n")
    print(release.to_pandas().sort_values("count", ascending=False).head(8).to_string(index=False))

    # %% A classifier from the rows of the release, beside one from records that nobody has together.
    try:
        import sklearn  # noqa: F401
    except ImportError:
        print("scikit-learn is not installed: no classifier is learned")
        return
    test = people(5_000, 2)
    larger = test["approved"].value_counts(normalize=True).max()
    print(f"accuracy on {len(test)} other people, of a tree of depth 6")
    print(f"  from raw data                    {accuracy(known, test):.3f}")
    # Also of columns that were not divided: their values are made up, and a tree learns nothing from them.
    rows = release.rows(concrete=True, seed="07" * 32, undivided=True)
    print(f"  from the release (ε = 1)         {accuracy(rows, test):.3f}")
    print(f"  always saying the larger class   {larger:.3f}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        main(Path(directory), *map(int, sys.argv[1:]))
