"""What the tests share: made-up people, two parties with files of their own, and processes for them."""

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import diptych

HERE = Path(__file__).parent
JOBS = {"Any_Job": {"Professional": ["Engineer", "Lawyer"], "Artist": ["Dancer", "Writer"]}}
#: No fault may keep a party longer than this.
PATIENCE = 60


def person(number):
    salary = 18 + number * 37 % 82
    job = ["Engineer", "Lawyer", "Dancer", "Writer"][number // 82 % 4]
    sex = "Male" if number % 2 else "Female"
    approved = "Y" if salary > (40 if job in ("Engineer", "Lawyer") else 65) else "N"
    return {"job": job, "salary": salary, "sex": sex, "approved": approved}


def people(count, start=0):
    """So many people, by columns."""
    rows = [person(number) for number in range(start, start + count)]
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.fixture
def agreement():
    """One party's agreement on them."""
    return diptych.Agreement.new(
        {"job": JOBS, "sex": ["Male", "Female"], "salary": range(18, 100), "approved": ["Y", "N"]},
        class_column="approved",
        id="loans",
        max_records=100_000,
        specializations=3,
    )


def ledger_events(path):
    """What happened, in order, and how much was debited; nothing where no ledger was made."""
    events = []
    if not Path(path).exists():
        return events
    for line in Path(path).read_text().splitlines():
        ((name, fields),) = json.loads(line)["entry"]["event"].items()
        events.append((name, fields.get("epsilon")))
    return events


class Couple:
    """A bank and a loan company with different columns of mostly the same people."""

    def __init__(self, place, count=600, **release):
        self.place = place
        self.prints = [
            diptych.keygen(name, place / f"{role}.pem")
            for name, role in (("Bank", "p1"), ("Loan company", "p2"))
        ]
        self.agreement = {
            "release": {
                "id": "loans",
                "partition": "vertical",
                "epsilon": "1",
                "specializations": 3,
                "max_records": 10_000,
                **release,
            },
            "parties": {
                "p1": {"name": "Bank", "fingerprint": self.prints[0]},
                "p2": {"name": "Loan company", "fingerprint": self.prints[1]},
            },
            "id": {"column": "id", "normalize": ["trim", "uppercase"]},
            "class": {"column": "approved", "values": ["Y", "N"]},
            "attribute": [
                {"name": "job", "owner": "p1", "kind": "categorical", "taxonomy": JOBS},
                {"name": "sex", "owner": "p2", "kind": "categorical", "taxonomy": {"Any_Sex": ["Male", "Female"]}},
                {"name": "salary", "owner": "p2", "kind": "numeric", "min": 18, "max": 99, "step": 1},
            ],
        }
        common = people(count)
        ids = [f"id{number:05}" for number in range(count)]
        self.tables = [
            {"id": ids, "job": common["job"], "approved": common["approved"], "note": ["x"] * count},
            {
                "salary": common["salary"],
                "id": [name.upper() for name in ids],
                "approved": common["approved"],
                "sex": common["sex"],
            },
        ]

    def party(self, who, address):
        role = f"p{who + 1}"
        meeting = {"listen": "127.0.0.1:0"} if who == 0 else {"connect": address}
        return {
            "role": role,
            "identity": str(self.place / f"{role}.pem"),
            "ledger": str(self.place / f"{role}.jsonl"),
            "out": str(self.place / f"{role}-release"),
            "cap": "3",
            "data_set": "people",
            "wait_seconds": 30,
            "silence_seconds": 30,
            **meeting,
        }

    def start(self, who, address=None, **more):
        """One party in a process of its own. The bank listens; it must be started first."""
        spec = {
            "what": "run",
            "agreement": self.agreement,
            "party": self.party(who, address),
            "table": self.tables[who],
            "frame": "dict",
            **more,
        }
        return Process(spec)

    def ledger(self, who):
        return ledger_events(self.place / f"p{who + 1}.jsonl")


class Process:
    """A Python process that runs party.py, and the lines that it prints."""

    def __init__(self, spec, env=None):
        self.child = subprocess.Popen(
            [sys.executable, str(HERE / "party.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=env,
        )
        self.child.stdin.write(json.dumps(spec))
        self.child.stdin.close()
        self.said = []
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.child.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def until(self, words):
        """Waits for a line with these words."""
        while True:
            line = self.lines.get(timeout=PATIENCE)
            assert line is not None, f"{words!r} was not said:\n" + "\n".join(self.said)
            self.said.append(line)
            if words in line:
                return line

    def address(self):
        return self.until("listening on ").split("listening on ")[1].split(" ")[0]

    def end(self, patience=PATIENCE):
        """Its last line, which is what came of it."""
        assert self.child.wait(timeout=patience) is not None
        while (line := self.lines.get(timeout=patience)) is not None:
            self.said.append(line)
        try:
            return json.loads(self.said[-1])
        except (IndexError, ValueError):
            raise AssertionError("\n".join(self.said)) from None

    def stop(self):
        self.child.kill()
        self.child.wait()


@pytest.fixture
def couple(tmp_path):
    return Couple(tmp_path)
