"""Peers' differentially private tables and classifiers on the tables of `experiments/src/bin/small_tables`.

    accuracy.py --data DIR --adult DIR --out DIR [--tables A,B] [--peer mst|forest] [--seeds N]

Runs in an environment that has the peers: `smartnoise-synth` for MST, `diffprivlib` for the forest.
MST writes synthetic records, one file per table, ε and seed, which

    cargo run --release -p diptych-experiments --bin small_tables -- --data DIR --synthetic OUT

judges by the same tree and the same test records as ours. The forest is judged here: it is a
classifier and no table. Records are divided as `experiments/src/bin/small_tables/tables.rs` does it.
"""

import argparse
import csv
import pathlib
import statistics
import time
import warnings

EPSILONS = ["0.1", "0.25", "0.5", "1"]
BINS = 20
ADULT = ("age workclass fnlwgt education education-num marital-status occupation relationship race "
         "sex capital-gain capital-loss hours-per-week native-country class").split()
CLASSES = {"fair": "affair", "wa_churn": "churn", "WVS": "poverty", "Satellite": "classes",
           "HealthInsurance": "insurance", "credit_data": "Status", "BEPS": "vote", "Chile": "vote",
           "Adult": "class", "Adult-4000": "class"}
#: Of Satellite's 36 pixels, those that the agreement has.
PIXELS = [f"x.{i}" for i in (17, 18, 19, 20, 1, 2, 3, 4, 33, 34, 35, 36)]


def scrambled(record):
    mask = (1 << 64) - 1
    x = (record + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def divided(records):
    """Two thirds for training, one for the test."""
    order = sorted(range(len(records)), key=lambda record: (scrambled(record), record))
    parts = [[], []]
    for place, record in enumerate(order):
        parts[place % 3 == 0].append(records[record])
    return parts


def adult(place):
    parts = []
    for name, first in (("adult.data", 0), ("adult.test", 1)):
        lines = (place / name).read_text().splitlines()[first:]
        rows = [[field.strip().rstrip(".") for field in line.split(",")] for line in lines]
        parts.append([row for row in rows if len(row) == len(ADULT) and "?" not in row])
    return ADULT, *parts


def read(name, arguments):
    if name.startswith("Adult"):
        columns, train, test = adult(arguments.adult)
        return columns, train[:4000] if name == "Adult-4000" else train, test
    with open(arguments.data / f"{name}.csv", newline="", encoding="utf-8") as file:
        columns, *records = csv.reader(file)
    if name == "Satellite":
        keep = [columns.index(column) for column in PIXELS + ["classes"]]
        columns = [columns[place] for place in keep]
        records = [[record[place] for place in keep] for record in records]
    return columns, *divided(records)


def as_number(text):
    try:
        return float(text)
    except ValueError:
        return None


class Column:
    """Codes of a column's values: bins of equal width between the smallest and the largest training
    value for numbers, the values themselves otherwise. That these come from the data favours the
    peer."""

    def __init__(self, values, is_class):
        numbers = [as_number(value) for value in values]
        self.numeric = None not in numbers and not is_class
        if not self.numeric:
            self.names = sorted(set(values))
            return
        known = sorted(set(zip(numbers, values)))
        self.low, high = known[0][0], known[-1][0]
        self.bins = min(BINS, len(known))
        self.width = (high - self.low) / self.bins or 1.0
        middles = [self.low + (bin + 0.5) * self.width for bin in range(self.bins)]
        #: A bin is written as the training value nearest to its middle.
        self.names = [min(known, key=lambda one: abs(one[0] - middle))[1] for middle in middles]

    def code(self, value):
        if not self.numeric:
            return self.names.index(value)
        return max(0, min(self.bins - 1, int((float(value) - self.low) / self.width)))


def mst(name, epsilon, seed, columns, coded, kinds, arguments):
    import numpy
    import pandas
    from mbi.markov_random_field import MarkovRandomField
    from snsynth import Synthesizer
    # As it is installed, mbi 1.1 rounds in the order of the records: columns that hang on the same one
    # move together then, which the model does not say. Independent draws do not.
    as_installed = getattr(mst, "as_installed", MarkovRandomField.synthetic_data)
    mst.as_installed = as_installed
    if arguments.independent:
        MarkovRandomField.synthetic_data = lambda model, rows: as_installed(model, rows, "sample")
    numpy.random.seed(seed)
    frame = pandas.DataFrame(coded, columns=columns)
    peer = Synthesizer.create("mst", epsilon=float(epsilon), verbose=False)
    made = peer.fit_sample(frame, categorical_columns=columns, preprocessor_eps=0.0)
    path = arguments.out / f"{name}-{epsilon}-{seed}.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for row in made.itertuples(index=False):
            writer.writerow([kind.names[int(code)] for kind, code in zip(kinds, row)])


def forest(epsilon, seed, train, test, place):
    import numpy
    from diffprivlib.models import RandomForestClassifier
    train, test = numpy.array(train, dtype=float), numpy.array(test, dtype=float)
    others = [column for column in range(train.shape[1]) if column != place]
    bounds = (train[:, others].min(axis=0), train[:, others].max(axis=0))
    classes = sorted(set(train[:, place]))
    peer = RandomForestClassifier(n_estimators=10, max_depth=5, epsilon=float(epsilon),
                                  bounds=bounds, classes=classes, random_state=seed)
    peer.fit(train[:, others], train[:, place])
    return 100 * float((peer.predict(test[:, others]) == test[:, place]).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--adult", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("synthetic"))
    parser.add_argument("--tables", default=",".join(CLASSES))
    parser.add_argument("--epsilons", default=",".join(EPSILONS))
    parser.add_argument("--peer", choices=["mst", "forest"], default="mst")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--independent", action="store_true",
                        help="let MST draw its records independently of each other")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.tables.split(","):
        columns, train, test = read(name, arguments)
        place = columns.index(CLASSES[name])
        kinds = [Column([record[i] for record in train], i == place) for i in range(len(columns))]
        coded = [[kind.code(value) for kind, value in zip(kinds, record)] for record in train]
        for epsilon in arguments.epsilons.split(","):
            found, began = [], time.process_time()
            for seed in range(arguments.seeds):
                if arguments.peer == "mst":
                    if not (arguments.out / f"{name}-{epsilon}-{seed}.csv").exists():
                        mst(name, epsilon, seed, columns, coded, kinds, arguments)
                    continue
                numbers = [[float(value) if kind.numeric else
                            (kind.names.index(value) if value in kind.names else -1)
                            for kind, value in zip(kinds, record)] for record in train + test]
                found.append(forest(epsilon, seed, numbers[:len(train)], numbers[len(train):], place))
            seconds = (time.process_time() - began) / arguments.seeds
            words = (f"{statistics.mean(found):.1f} ± {statistics.stdev(found):.1f}"
                     if len(found) > 1 else "written")
            print(f"{name} ε = {epsilon}: {words}, {seconds:.1f} s of CPU each", flush=True)


if __name__ == "__main__":
    main()
