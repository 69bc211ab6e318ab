#!/usr/bin/env python3
"""Runs the same work by Diptych and by its peers, back to back, and writes a table of ratios.

    python3 benches/peers/run.py --environments DIR --install      # once: get the Python peers
    python3 benches/peers/run.py --environments DIR --write docs/peers.md
    python3 benches/peers/run.py --environments DIR --criterion --only psi,paillier

needs nothing beyond Python itself. Peers that cannot be had are named and left out:

- Python packages are looked for in two environments below DIR, since they want different versions of
  the same libraries; `--install` makes these with pip.
- Crates that the benches know are measured by `cargo bench` with --criterion.

Peers come from package registries alone: nobody's sources are built here.

Times are of CPU, of both parties and of all threads, the least of so many runs (`--repeat`), because
others may use the machine: what ran back to back can be compared, a figure of another day cannot.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

#: What each environment installs. The second list goes without dependencies: smartnoise-synth asks for
#: neural networks that MST does not use, and what MST needs stands in the first.
ENVIRONMENTS = {
    "crypto": (["openmined.psi", "spu", "phe", "gmpy2"], []),
    "tables": (["numpy", "pandas<3", "scipy", "networkx", "jax", "attrs", "chex", "optax", "Faker",
                "PyYAML", "antlr4-python3-runtime==4.9.3", "graphviz", "sqlalchemy<3",
                "opendp<0.15", "scikit-learn<1.6", "diffprivlib"],
               ["smartnoise-synth", "smartnoise-sql", "mbi<2", "disjoint-set<0.10", "pac-synth"]),
}


class Missing(Exception):
    """A peer cannot be had; the reason."""


# What is run. Each function gives (name and version, {figure: value}).

def ours(arguments, subject, *more):
    """Figures of `diptych bench SUBJECT`, as (name, parameters) → value."""
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place) / "figures.json"
        try:
            finished([arguments.diptych, "bench", subject, *more, "--json", str(path)])
        except subprocess.CalledProcessError as error:
            sys.exit(f"diptych bench {subject} failed: {error.stderr.strip()}")
        return {(one["name"], one["parameters"]): one["value"] for one in json.loads(path.read_text())}


def figure(figures, name, parameters=""):
    """The one figure whose name and parameters match."""
    found = [value for (known, note), value in figures.items()
             if re.search(name, known) and re.search(parameters, note)]
    if not found:
        raise Missing(f"our own bench has no figure like {name!r}")
    return min(found)


def worker(arguments, environment, work, size):
    """A peer's work in its environment."""
    python = arguments.environments / environment / "bin" / "python"
    if not python.exists():
        raise Missing(f"no environment {environment} (see --install)")
    quiet = os.environ | {"OMP_NUM_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
    try:
        text = finished([python, HERE / "workers.py", work, str(size)], env=quiet)
    except subprocess.CalledProcessError as error:
        last = (error.stderr or "").strip().splitlines()[-1:] or ["it failed"]
        raise Missing(f"{work}: {last[0]}") from error
    return json.loads(text.strip().splitlines()[-1])


def finished(command, env=None, cwd=None, limit=1800):
    done = subprocess.run([str(part) for part in command], check=True, text=True, env=env, cwd=cwd,
                          timeout=limit, capture_output=True)
    return done.stdout


# The works: each adds rows (what, unit, ours, [(peer, theirs or why not)]).

def psi(arguments):
    size = 100_000
    mine = ours(arguments, "psi", "--size", str(size))
    oprf = figure(mine, f"^psi {size} × {size}, oprf: CPU")
    curve = figure(mine, f"^psi {size} × {size}, ristretto255: CPU")

    def peer(work):
        return lambda: timed(worker(arguments, "crypto", work, size))
    return [
        (f"set intersection, {size} identifiers each, from transfers (`oprf`)", "s", oprf, [
            ("secretflow spu {version}, RR22", peer("spu-rr22")),
            ("secretflow spu {version}, KKRT", peer("spu-kkrt"))]),
        (f"set intersection, {size} identifiers each, on a curve (`ristretto255`)", "s", curve, [
            ("openmined.psi {version}", peer("openmined")),
            ("secretflow spu {version}, ECDH", peer("spu-ecdh"))]),
    ]


def timed(found, key="cpu"):
    return found[key], found["version"]


def paillier(arguments):
    bits, shorter = 3072, 2048
    mine = ours(arguments, "paillier")

    def peer(key):
        return lambda: timed(worker(arguments, "crypto", "phe", bits), key)

    def crate(name):
        return lambda: criterion(arguments, "paillier", name)
    return [
        (f"Paillier, {bits} bits: encryption by the key's owner", "ms",
         figure(mine, "encrypt, owner, bulk", f"^{bits} bits"), [
             ("phe {version}", peer("encrypt_ms")),
             ("fast-paillier {version}", crate(f"paillier_{bits}/encrypt owner_fast-paillier"))]),
        (f"Paillier, {bits} bits: decryption", "ms", figure(mine, "decrypt", f"^{bits} bits"), [
            ("phe {version}", peer("decrypt_ms")),
            ("fast-paillier {version}", crate(f"paillier_{bits}/decrypt_fast-paillier"))]),
        # Its numbers are too short for more.
        (f"Paillier, {shorter} bits: decryption", "ms",
         figure(mine, "decrypt", f"^{shorter} bits"), [
             ("libpaillier {version}", crate(f"paillier_{shorter}/decrypt_libpaillier"))]),
    ]


def tables(arguments):
    records = 30_162
    mine = figure(ours(arguments, "diffgen"), "CSV to release, CPU",
                  f"^{records} records.*h = 10, leaf-max")

    def peer(work):
        return lambda: timed(worker(arguments, "tables", work, records))
    what = f"a differentially private table of {records} records, 14 attributes, by one party"
    return [(what, "s", mine, [
        ("smartnoise-synth {version}, MST", peer("mst")),
        ("private-pgm (mbi {version}), pairs with the class", peer("private-pgm")),
        ("diffprivlib {version}, random forest (no table)", peer("diffprivlib"))])]


WORKS = {"psi": psi, "paillier": paillier, "tables": tables}


# Peers that are no Python packages.

def criterion(arguments, bench, name):
    """The least time of all samples in ms, and the crate's version, of a criterion bench."""
    if not arguments.criterion:
        raise Missing("measured with --criterion only")
    finished(["cargo", "bench", "-p", "diptych-benches", "--bench", bench, "--", name.replace("_", "/")], cwd=ROOT)
    path = target(arguments) / "criterion" / name / "new" / "sample.json"
    if not path.exists():
        raise Missing(f"cargo bench gave no {name}")
    crate = name.split("_")[-1]
    lock = (ROOT / "Cargo.lock").read_text()
    version = re.search(rf'name = "{crate}"\nversion = "([^"]+)"', lock)
    sample = json.loads(path.read_text())
    least = min(took / count for took, count in zip(sample["times"], sample["iters"]))
    return least / 1e6, version[1] if version else "?"


def target(arguments):
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


# The page.

def machine():
    model = platform.processor() or platform.machine()
    info = pathlib.Path("/proc/cpuinfo")
    if info.exists():
        found = re.search(r"model name\s*: (.*)", info.read_text())
        model = found[1] if found else model
    return f"{model}, {os.cpu_count()} cores"


def measured(arguments):
    """Every row, the least of all repetitions, peers between ours. Kept in a file if asked: a run that
    was stopped, or one of other works, adds to it."""
    kept = {"rows": {}, "missing": {}}
    if arguments.keep and arguments.keep.exists():
        kept = json.loads(arguments.keep.read_text(encoding="utf-8"))
    given_up = set()
    for turn in range(arguments.repeat):
        for name in arguments.only:
            say(f"{name}, {turn + 1} of {arguments.repeat}")
            for what, unit, mine, peers in WORKS[name](arguments):
                row = kept["rows"].setdefault(what, {"unit": unit, "ours": mine, "peers": {}})
                row["ours"] = min(row["ours"], mine)
                for label, run in peers:
                    if label not in given_up and not beside(row, kept["missing"], label, run):
                        given_up.add(label)
                    if arguments.keep:
                        arguments.keep.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    return kept["rows"], kept["missing"]


def beside(row, missing, label, run):
    """Puts a peer's figure beside ours, or says why there is none."""
    try:
        value, version = run()
    except (Missing, subprocess.TimeoutExpired) as why:
        missing.setdefault(label, str(why))
        say(f"  not found: {label.replace(' {version}', '')}: {why}")
        return False
    known = row["peers"].get(label, (value, version))[0]
    row["peers"][label] = (min(known, value), version)
    missing.pop(label, None)
    return True


def say(text):
    print(text, file=sys.stderr, flush=True)


def table(rows):
    lines = ["| work | ours | peer | theirs | ratio |", "| --- | --- | --- | --- | --- |"]
    for what, row in rows.items():
        for label, (value, version) in row["peers"].items():
            unit, mine = row["unit"], row["ours"]
            lines.append(f"| {what} | {short(mine)} {unit} | {label.format(version=version)} | "
                         f"{short(value)} {unit} | {short(mine / value)} |")
    return "\n".join(lines)


def short(number):
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}" if number >= 1 else f"{number:.2g}"


def page(arguments, rows, missing):
    version = finished([arguments.diptych, "--version"]).strip()
    load = os.getloadavg()[0]
    lines = [
        "# Compared with other software", "",
        f"The same work by Diptych and by other software, one after the other on one machine: {machine()}; "
        f"{datetime.date.today()}; {version}; Python {platform.python_version()}. The machine had "
        f"other work too (load {load:.1f} at the end), so the figures are CPU time, of both "
        f"parties where there are two, the smallest of {arguments.repeat} run(s); a ratio below 1 means "
        "that Diptych takes less. Measured with `python3 benches/peers/run.py`, which says how to "
        "install the others.", "", table(rows), ""]
    if missing:
        lines += ["Not found there: " + "; ".join(
            f"{label.replace(' {version}', '')} ({why})" for label, why in missing.items()) + ".", ""]
    return "\n".join(lines)


def install(arguments):
    for name, (packages, alone) in ENVIRONMENTS.items():
        place = arguments.environments / name
        say(f"{name}: {', '.join(packages + alone)}")
        finished([sys.executable, "-m", "venv", place])
        pip = [place / "bin" / "pip", "install", "--quiet", "--prefer-binary"]
        for package in packages:
            try:
                finished([*pip, package])
            except subprocess.CalledProcessError as error:
                say(f"  not found: {package}: {error.stderr.strip().splitlines()[-1:]}")
        for package in alone:
            try:
                finished([*pip, "--no-deps", package])
            except subprocess.CalledProcessError as error:
                say(f"  not found: {package}: {error.stderr.strip().splitlines()[-1:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--diptych", type=pathlib.Path, default=ROOT / "target/release/diptych")
    parser.add_argument("--environments", type=pathlib.Path, default=ROOT / "target/peers")
    parser.add_argument("--install", action="store_true", help="make the environments with pip")
    parser.add_argument("--criterion", action="store_true", help="also run cargo bench")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(WORKS))
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path, help="a JSON file of what was measured, added to")
    parser.add_argument("--write", type=pathlib.Path, help="the page; without it, it is printed")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.only if name not in WORKS]:
        parser.error(f"no work is called {unknown[0]}; there are {', '.join(WORKS)}")
    if arguments.install:
        return install(arguments)
    if not arguments.diptych.exists():
        parser.error(f"{arguments.diptych} is missing: cargo build --release")
    text = page(arguments, *measured(arguments))
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
