#!/usr/bin/env python3
"""Writes vectors/agreement.json: agreements, their canonical forms and hashes, and refused ones.

An implementation of the canonical form of its own, by the Python standard library only. It reads
an agreement, fills in the defaults, inlines the taxonomies and prints JSON with sorted keys and
without white space. It does not check rules: what is wrong with the refused agreements is stated
by hand below. Running it rewrites the file byte for byte.
"""

import csv
import datetime
import decimal
import hashlib
import io
import json
import pathlib
import tomllib
import unicodedata

HERE = pathlib.Path(__file__).resolve().parent.parent
RULES = ["trim", "nfc", "uppercase", "lowercase"]


def text(value):
    return unicodedata.normalize("NFC", value)


def normal(value):
    """The shortest decimal without exponent."""
    number = decimal.Decimal(str(value))
    if number == 0:
        return "0"
    written = format(number, "f")
    return written.rstrip("0").rstrip(".") if "." in written else written


def tree(name, children):
    return {"name": text(name), **({"children": children} if children else {})}


def from_toml(name, below):
    if isinstance(below, dict):
        return tree(name, [from_toml(child, rest) for child, rest in below.items()])
    children = []
    for item in below:
        if isinstance(item, str):
            children.append(tree(item, []))
        else:
            children += [from_toml(child, rest) for child, rest in item.items()]
    return tree(name, children)


def from_json(value):
    return tree(value["name"], [from_json(child) for child in value.get("children", [])])


def from_csv(content):
    root = {}
    for row in csv.reader(io.StringIO(content), delimiter=";"):
        level, before = root, None
        for name in reversed([cell.strip() for cell in row]):
            if name != before:
                level = level.setdefault(name, {})
            before = name
    (name, below), = root.items()
    return from_toml(name, below)


def taxonomy(attribute, files):
    if "taxonomy" in attribute:
        (name, below), = attribute["taxonomy"].items()
        return from_toml(name, below)
    name = attribute["taxonomy_file"]
    content = files[name]
    if name.endswith(".json"):
        return from_json(json.loads(content))
    if name.endswith(".csv"):
        return from_csv(content)
    (root, below), = tomllib.loads(content).items()
    return from_toml(root, below)


def section_of_groups(given):
    """The section of a model that hides people in groups: requirements are always a list."""
    requirements = []
    for one in given.get("requirement", [given]):
        entry = {"k": one["k"], "c": normal(one.get("c", "1"))}
        entry |= {key: one[key] for key in ("l", "attributes") if key in one}
        requirements.append(entry)
    section = {"acknowledge": given["acknowledge"], "requirement": requirements}
    return section | {key: given[key] for key in ("sensitive", "protect") if key in given}


def canonical_of_groups(given, files):
    release, model = given["release"], given["release"]["model"]
    section = section_of_groups(given[model])
    score = "max" if release["partition"] == "horizontal" else "info-gain"
    own = {"lkc": {"score": score, "beneficial": True}, "lattice": {"search": "levels"}}[model]
    section |= {key: given[model].get(key, usual) for key, usual in own.items()}
    full = {
        "format": "diptych-agreement-2",
        "release": {key: release[key] for key in ("id", "partition", "model", "max_records")},
        model: section,
        "class": {"column": text(given["class"]["column"]), "values": given["class"]["values"]},
        "attribute": [attribute_entry(attribute, files) for attribute in given["attribute"]],
    }
    if release.get("accept_composition", False):
        full["release"]["accept_composition"] = True
    if release["partition"] == "horizontal":
        full["release"]["overlap_check"] = release.get("overlap_check", False)
        full["parties"] = parties_of(given)
    if release["partition"] == "vertical":
        paper = release.get("profile") == "paper"
        section["linkage"] = "rows" if paper else "sealed"
        if "slack" in given[model]:
            section["slack"] = normal(given[model]["slack"])
        full["release"] |= {"profile": "paper"} if paper else {}
        full |= {"parties": parties_of(given), "id": id_of(given, paper)}
    return written(full, release)


def canonical_of_paths(given):
    """Paths have no attributes; every default is written out."""
    release, terms = given["release"], given["trajectory"]
    section = {key: terms[key] for key in ("acknowledge", "l", "k")}
    section |= {"c": normal(terms.get("c", "1")), "support": normal(terms.get("support", "0.005"))}
    usual = {"protect": [], "score": "gain-per-loss", "bin": 1, "collapse": False}
    section |= {key: terms.get(key, default) for key, default in usual.items()}
    if "location" not in terms:
        section["path"] = text(terms.get("path", "path"))
    section |= {key: text(terms[key]) for key in ("id", "location", "time") if key in terms}
    full = {
        "format": "diptych-agreement-2",
        "release": {key: release[key] for key in ("id", "partition", "model", "max_records")},
        "trajectory": section,
        "class": {"column": text(given["class"]["column"]), "values": given["class"]["values"]},
    }
    if release.get("accept_composition", False):
        full["release"]["accept_composition"] = True
    if release["partition"] == "horizontal":
        full["release"]["overlap_check"] = release.get("overlap_check", False)
        full["parties"] = parties_of(given)
        if "id" in given:
            full["id"] = id_of(given, False)
    return written(full, release)


def declared_of(release):
    """What is declared for people: only what is there."""
    return {key: text(release[key]) for key in ("purpose", "retention", "valid_until") if key in release} | {
        key: [text(one) for one in release[key]] for key in ("contacts",) if key in release}


def parties_of(given):
    return {
        role: {"name": text(party["name"]), "fingerprint": party["fingerprint"].lower()}
        for role, party in given["parties"].items()
    }


def id_of(given, encrypted):
    rules = sorted(given["id"]["normalize"], key=RULES.index)
    entry = {"column": text(given["id"]["column"]), "normalize": rules}
    # Keys that came later stand there only where they are not as it was before.
    if given["id"].get("min_common", 1) != 1:
        entry["min_common"] = given["id"]["min_common"]
    if given["id"].get("membership") == "hidden":
        entry["membership"] = "hidden"
        entry |= {key: given["id"][key] for key in ("pad_to",) if key in given["id"]}
    if given["id"].get("rehearse", False):
        entry["rehearse"] = given["id"]["rehearse"]
        # What a noisy one spends is always written out.
        if entry["rehearse"] == "noisy":
            entry["rehearse_epsilon"] = normal(given["id"].get("rehearse_epsilon", "0.05"))
    # The papers match by encryption.
    usual = "ristretto255" if encrypted else "oprf"
    if given["id"].get("matching", usual) != usual:
        entry["matching"] = given["id"]["matching"]
    return entry


def attribute_entry(attribute, files):
    entry = {"name": text(attribute["name"]), "kind": attribute["kind"]}
    bad = attribute.get("on_bad_value", "refuse")
    if "owner" in attribute:
        entry["owner"] = attribute["owner"]
    treated = text
    if attribute["kind"] == "numeric":
        def treated(word):
            return word if word in ("refuse", "drop", "category") else normal(word)
        if "edges" in attribute or "scale" in attribute:
            edges = attribute.get("edges") or logarithmic(attribute["min"], attribute["max"])
            entry["edges"] = [normal(edge) for edge in edges]
        else:
            entry |= {key: normal(attribute[key]) for key in ("min", "max", "step")}
    elif attribute["kind"] == "date":
        entry |= {key: datetime.date.fromisoformat(attribute[key]).isoformat() for key in ("min", "max")}
        entry |= {"step": attribute.get("step", "month"), "format": attribute.get("format", "%Y-%m-%d")}
    elif attribute["kind"] != "boolean":
        entry["taxonomy"] = taxonomy(attribute, files)
    entry["on_bad_value"] = treated(bad)
    # Keys that came later stand there only where they say something new.
    if attribute.get("outside", "refuse") != "refuse":
        entry["outside"] = attribute["outside"]
    if "missing" in attribute:
        entry["missing"] = treated(attribute["missing"])
        if attribute.get("missing_values", [""]) != [""]:
            entry["missing_values"] = attribute["missing_values"]
    return entry


def logarithmic(least, most):
    """1, 2 and 5 times powers of ten, between both ends."""
    least, most = decimal.Decimal(str(least)), decimal.Decimal(str(most))
    series = [decimal.Decimal(digit).scaleb(power) for power in range(-9, 18) for digit in (1, 2, 5)]
    return [least, *(edge for edge in series if least < edge < most), most]


def written(full, release):
    full["release"] |= declared_of(release)
    return json.dumps(full, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical(toml, files):
    given = tomllib.loads(toml, parse_float=decimal.Decimal)
    release = given["release"]
    if release.get("model") in ("lkc", "lattice"):
        return canonical_of_groups(given, files)
    if release.get("model") == "trajectory":
        return canonical_of_paths(given)
    partition = release["partition"]
    paper = release.get("profile") == "paper"
    flips = partition != "local" and not paper
    selection = "permute-and-flip" if flips else "exponential"
    hidden = given.get("id", {}).get("membership") == "hidden"
    utility = "max" if paper or partition == "horizontal" or hidden else "leaf-max"
    noise = "single" if partition == "local" else "two-party" if paper else "joint"
    full = {
        "format": "diptych-agreement-2",
        "release": {
            "id": release["id"],
            "partition": partition,
            "model": release.get("model", "diffgen"),
            "epsilon": normal(release["epsilon"]),
            "specializations": release.get("specializations", "auto"),
            "utility": release.get("utility", utility),
            "selection": release.get("selection", selection),
            "noise": release.get("noise", noise),
            "structure_share": normal(release.get("structure_share", "0.5" if paper else "0.7")),
            "profile": release.get("profile", "default"),
            "max_records": release["max_records"],
        },
        "class": {
            "column": text(given["class"]["column"]),
            "values": [text(value) for value in given["class"]["values"]],
        } if "class" in given else None,
        "attribute": [],
    }
    if "expected_records" in release:
        full["release"]["expected_records"] = release["expected_records"]
    # The tree follows from the agreement: nothing is chosen, and no class is needed.
    if full["release"]["utility"] == "range":
        del full["release"]["selection"], full["release"]["structure_share"]
    if "class" not in given:
        del full["class"]
    elif given["class"].get("owner", "both") != "both":
        full["class"]["owner"] = given["class"]["owner"]
    if partition == "horizontal":
        full["release"]["overlap_check"] = release.get("overlap_check", False)
        if full["release"].get("selection") == "exponential":
            full["release"]["taylor_digits"] = release.get("taylor_digits", 6)
            full["release"]["taylor_degree"] = release.get("taylor_degree", 16)
    if partition != "local":
        crypto, given_crypto = {}, given.get("crypto", {})
        if partition == "vertical":
            usual = "paillier" if paper else "transfers"
            crypto["count_table"] = given_crypto.get("count_table", usual)
        # A key is made for the table under encryption and for the polynomial, and for nothing else.
        if crypto.get("count_table") == "paillier" or "taylor_degree" in full["release"]:
            crypto["paillier_bits"] = given_crypto.get("paillier_bits", 3072)
        # Silent transfers are allowed unless the agreement says otherwise.
        if given_crypto.get("transfers", "auto") != "auto":
            crypto["transfers"] = given_crypto["transfers"]
        if crypto:
            full["crypto"] = crypto
        full["parties"] = parties_of(given)
    if given.get("scale"):
        full["scale"] = {"shards": given["scale"]["shards"]}
    if "id" in given:
        epsilon, shards = decimal.Decimal(release["epsilon"]), given.get("scale", {}).get("shards", 0)
        # Each shard fails in two ways of 2^-64, and dealing in one for each begun 64: 63/64 of 2^-40 at most.
        failures = 2 * shards + 1 + shards // 64 if shards else 0
        too_likely = failures * (1 + epsilon.exp()) > 63 * 2 ** 18 if epsilon <= 15 else True
        full["id"] = id_of(given, paper or too_likely)
    full["attribute"] = [attribute_entry(attribute, files) for attribute in given["attribute"]]
    return written(full, release)


B1, C1 = "sha256:" + "b1" * 32, "sha256:" + "1c" * 32
# Says every choice; the example in examples/loans leaves them to the defaults.
LOANS = (HERE / "generate" / "loans.toml").read_text(encoding="utf-8")
JOB = (HERE.parent / "examples" / "loans" / "job.csv").read_text(encoding="utf-8")
PARTIES = f"""
[parties]
p1 = {{ name = "Bank", fingerprint = "{B1}" }}
p2 = {{ name = "Loan company", fingerprint = "{C1}" }}
"""
RELEASE = """[release]
id = "r1"
partition = "PARTITION"
epsilon = "0.25"
specializations = 1
max_records = 1000
"""
CLASS = """
[class]
column = "class"
values = ["Y", "N"]
"""
AGE = """
[[attribute]]
name = "age"
kind = "numeric"
min = 0
max = 99
step = 10
"""
LOCAL = RELEASE.replace("PARTITION", "local") + CLASS + AGE
HORIZONTAL = RELEASE.replace("PARTITION", "horizontal") + PARTIES + CLASS + AGE
ID = '[id]\ncolumn = "ssn"\nnormalize = ["lowercase", "nfc", "trim"]\n'
RACE = '\n[[attribute]]\nname = "race"\nkind = "categorical"\n'


def change(base, *pairs):
    for old, new in pairs:
        assert old in base, old
        base = base.replace(old, new, 1)
    return base


FILES = {"job.csv": JOB}
OF_LOANS = '[class]\ncolumn = "approved"\nvalues = ["Y", "N"]'
CRYPTO = '[crypto]\ncount_table = "transfers"'
PAPER = change(LOANS, ('profile = "default"', 'profile = "paper"'))
VALID = [
    ("the example of examples/loans", LOANS, FILES),
    ("ε, min and share with superfluous zeros", change(
        LOANS, ('"1.0"', '"1.000"'), ("min = 18", 'min = "18.00"'), ('"0.5"', '"0.50"')), FILES),
    ("fingerprints in upper case", change(LOANS, (B1, B1.replace("b", "B"))), FILES),
    ("everything with a default left out", change(
        LOANS, ('utility = "max"', ""), ('selection = "exponential"', ""),
        ('noise = "two-party"', ""), ('structure_share = "0.5"', ""), ('profile = "default"', ""),
        (CRYPTO, "")), FILES),
    ("identifier rules in another order", change(
        LOANS, ('["trim", "uppercase"]', '["uppercase", "trim"]')), FILES),
    ("every choice other than the default", change(
        LOANS, ('utility = "max"', 'utility = "info-gain"'), ('"exponential"', '"permute-and-flip"'),
        ('"two-party"', '"joint"'), ('"0.5"', '"0.7"'),
        ('"transfers"', '"paillier"\npaillier_bits = 2048')), FILES),
    ("the table under encryption, its key of the usual length", change(
        LOANS, ('"transfers"', '"paillier"')), FILES),
    ("the length of a key that is not made", change(
        LOANS, (CRYPTO, "[crypto]\npaillier_bits = 2048")), FILES),
    ("transfers that do not rest on LPN", change(
        LOANS, (CRYPTO, CRYPTO + '\ntransfers = "no-lpn"')), FILES),
    ("horizontal, transfers that do not rest on LPN", HORIZONTAL + (
        '\n[crypto]\ntransfers = "no-lpn"\n'), {}),
    ("the paper profile", change(PAPER, (CRYPTO, "")), FILES),
    ("the paper profile with a shorter key", change(
        PAPER, (CRYPTO, "[crypto]\npaillier_bits = 2048")), FILES),
    ("the taxonomy inline", change(LOANS, (
        'taxonomy_file = "job.csv"',
        'taxonomy = { Any_Job = { Professional = ["Engineer", "Lawyer"], '
        'Artist = { Dancer = [], Writer = {} } } }')), {}),
    ("the taxonomy as TOML", change(LOANS, ("job.csv", "sub/job.toml")), {
        "sub/job.toml":
            '[Any_Job]\nProfessional = ["Engineer", "Lawyer"]\nArtist = ["Dancer", "Writer"]\n'}),
    ("the taxonomy as JSON", change(LOANS, ("job.csv", "job.json")), {
        "job.json": json.dumps({"name": "Any_Job", "children": [
            {"name": "Professional", "children": [{"name": "Engineer"}, {"name": "Lawyer"}]},
            {"name": "Artist", "children": [{"name": "Dancer"}, {"name": "Writer", "children": []}]}
        ]})}),
    ("another order of children is another agreement", change(
        LOANS, ('["Male", "Female"]', '["Female", "Male"]')), FILES),
    ("horizontal, the shortest", HORIZONTAL, {}),
    ("horizontal, the length of a key that is not made", HORIZONTAL + (
        "\n[crypto]\npaillier_bits = 2048\n"), {}),
    ("horizontal, paper profile", change(
        HORIZONTAL, ("max_records", 'profile = "paper"\nmax_records')), {}),
    ("horizontal with overlap check", change(
        HORIZONTAL, ("max_records", "overlap_check = true\nmax_records")) + ID, {}),
    ("horizontal, 1024 points", change(HORIZONTAL, ("max = 99", "max = 10239")), {}),
    ("local, the shortest", LOCAL, {}),
    ("local, paper profile", change(LOCAL, ("max_records", 'profile = "paper"\nmax_records')), {}),
    ("a set attribute, as in figure 6.1", LOCAL + (
        '\n[[attribute]]\nname = "codes"\nkind = "set"\n'
        'taxonomy = { "**" = { "1*" = ["11", "12"], "2*" = ["21", "22"] } }\n'), {}),
    ("decimals and negative numbers", change(
        LOCAL, ("min = 0", 'min = "-1.50"'), ("max = 99", 'max = "1.5"'),
        ("step = 10", 'step = "0.25"\non_bad_value = "-0.0"')), {}),
    ("a leaf beside a parent, equal levels repeated", LOCAL + RACE + 'taxonomy_file = "race.csv"\n', {
        "race.csv": "White;White;Any\nBlack; Non-White ;Any\n\"Asian\";Non-White;Any\n"}),
    ("mixed list of leaves and tables", LOCAL + RACE +
     'taxonomy = { Any = ["White", { Non-White = ["Black", "Asian"] }] }\non_bad_value = "Black"\n', {}),
    ("text in decomposed form, quotes and other scripts", change(
        LOCAL, ('"class"', '"Cafe\u0301"'), ('["Y", "N"]', '["\\"q\\\\", "日本", "a/b<>&"]')), {}),
    ("one value only, mapped to", LOCAL + RACE +
     'taxonomy = { only = [] }\non_bad_value = "only"\n', {}),
]
TRIMMED = '["trim", "uppercase"]'
# Older forms had no such keys.
PURPOSE = 'purpose = "To see who repays e\u0301ven late."\n'
DECLARED = PURPOSE + ('retention = "Inputs are deleted after 30 days; the release stays."\n'
                      'contacts = ["Bank: dpo@bank.example", "Loan company: +41 00 000 00 00"]\n'
                      'valid_until = "2028-02-29"\n')
LATER = [
    ("declared for people: all of it", change(LOANS, ("[release]\n", "[release]\n" + DECLARED)), FILES),
    ("declared for people: the purpose alone", change(LOCAL, ("max_records", PURPOSE + "max_records")), {}),
    ("declared for people: one contact", change(
        HORIZONTAL, ("max_records", 'contacts = ["Bank"]\nmax_records')), {}),
    ("nobody need be common", change(LOANS, (TRIMMED, TRIMMED + "\nmin_common = 0")), FILES),
    ("many must be common, and it may be rehearsed", change(
        LOANS, (TRIMMED, TRIMMED + "\nrehearse = true\nmin_common = 5000")), FILES),
    ("a rehearsal with labels", change(
        LOANS, (TRIMMED, TRIMMED + '\nrehearse = "labels"\nmin_common = 1')), FILES),
    ("a noisy rehearsal", change(LOANS, (TRIMMED, TRIMMED + '\nrehearse = "noisy"')), FILES),
    ("people matched as they usually are", change(
        LOANS, (TRIMMED, TRIMMED + '\nmatching = "oprf"')), FILES),
    ("people matched by encryption", change(
        LOANS, (TRIMMED, TRIMMED + '\nmatching = "ristretto255"')), FILES),
    ("the paper profile with people matched by residues", change(
        LOANS, ('profile = "default"', 'profile = "paper"'), (CRYPTO, ""),
        (TRIMMED, TRIMMED + '\nmatching = "ffdhe3072"')), FILES),
]
STEPS = "min = 0\nmax = 99\nstep = 10"
VISIT = '\n[[attribute]]\nname = "visit"\nkind = "date"\nmin = "1999-12-31"\nmax = "2026-11-18"\n'
SMOKES = '\n[[attribute]]\nname = "smokes"\nkind = "boolean"\n'
LATER += [
    ("edges, with and without quotes", change(
        LOCAL, (STEPS, 'edges = [-1, 0, 0.50, "1.0", 2, 5, 10]')), {}),
    ("a logarithmic scale is written as edges", change(
        LOCAL, (STEPS, 'scale = "log"\nmin = "0.003"\nmax = 70')), {}),
    ("edges in a horizontal release", change(HORIZONTAL, (STEPS, "edges = [0, 18, 65, 120]")), {}),
    ("a date, the shortest", LOCAL + VISIT, {}),
    ("a date in another format, by year, read as a constant", LOCAL + VISIT
     + 'step = "year"\nformat = "%d.%m.%Y"\non_bad_value = "2000-02-29"\noutside = "nearest"\n', {}),
    ("a date by day in a local release", LOCAL + VISIT + 'step = "day"\n', {}),
    ("a boolean", LOCAL + SMOKES, {}),
    ("a boolean that may be missing", LOCAL + SMOKES
     + 'missing = "category"\nmissing_values = ["", "NA", "?"]\non_bad_value = "false"\n', {}),
    ("missing values in the usual spelling, said", LOCAL + SMOKES
     + 'missing = "drop"\nmissing_values = [""]\n', {}),
    ("a number that is missing is a constant", change(
        LOCAL, (STEPS, STEPS + '\nmissing = "40.0"\noutside = "refuse"')), {}),
    ("a number that may be missing, values outside moved", change(
        LOCAL, (STEPS, STEPS + '\nmissing = "category"\noutside = "nearest"')), {}),
    ("a value that may be missing", LOCAL + RACE
     + 'taxonomy = { Any = ["White", { Non-White = ["Black", "Asian"] }] }\nmissing = "category"\n', {}),
]
APPROVED = 'column = "approved"'
FLIPS = ('selection = "exponential"', 'selection = "permute-and-flip"')
LATER += [
    ("a tree that follows from the agreement", change(
        LOANS, ('utility = "max"', 'utility = "range"'), ('selection = "exponential"', ""),
        ('structure_share = "0.5"', "")), FILES),
    ("the same without a class", change(
        LOANS, ('utility = "max"', 'utility = "range"'), ('selection = "exponential"', ""),
        ('structure_share = "0.5"', ""), (OF_LOANS, "")), FILES),
    ("the class at both, said", change(LOANS, (APPROVED, APPROVED + '\nowner = "both"')), FILES),
    ("the class at the first party", change(
        LOANS, (APPROVED, APPROVED + '\nowner = "p1"'), FLIPS), FILES),
    ("the class at the second party, what can be left out left out", change(
        LOANS, (APPROVED, APPROVED + '\nowner = "p2"'), ('utility = "max"', ""),
        ('selection = "exponential"', ""), ('noise = "two-party"', ""),
        ('structure_share = "0.5"', ""), ('profile = "default"', ""), (CRYPTO, "")), FILES),
]
HIDDEN = (TRIMMED, TRIMMED + '\nmembership = "hidden"')
OF_P1 = (APPROVED, APPROVED + '\nowner = "p1"')
JOINT = ('noise = "two-party"', 'noise = "joint"')
LATER += [
    ("who is common shown, said", change(
        LOANS, (TRIMMED, TRIMMED + '\nmembership = "shown"')), FILES),
    ("who is common hidden, the class at the first party", change(
        LOANS, HIDDEN, FLIPS, JOINT, (APPROVED, APPROVED + '\nowner = "p1"')), FILES),
    ("a noisy rehearsal for another epsilon, who is common hidden and padded", change(
        LOANS, (TRIMMED, TRIMMED + '\nmembership = "hidden"\npad_to = 100000\nrehearse = "noisy"\n'
                'rehearse_epsilon = "0.10"'), FLIPS, JOINT, OF_P1), FILES),
    ("both sizes hidden too, what can be left out left out", change(
        LOANS, (TRIMMED, TRIMMED + '\nmembership = "hidden"\npad_to = 100000'),
        (APPROVED, APPROVED + '\nowner = "p2"'), ('utility = "max"', ""),
        ('selection = "exponential"', ""), ('noise = "two-party"', ""),
        ('structure_share = "0.5"', ""), ('profile = "default"', ""), (CRYPTO, "")), FILES),
    ("who is common hidden, the largest ε and grid", change(
        LOANS, HIDDEN, FLIPS, JOINT, (APPROVED, APPROVED + '\nowner = "p2"'), ('"1.0"', '"13"'),
        ("max = 99", "max = 1041")), FILES),
]
LATER += [
    ("people in shards, an ε too large for the oblivious function there", change(
        LOANS, ('"1.0"', '"14.9"'), (TRIMMED, TRIMMED + '\nmatching = "ristretto255"'))
     + "\n[scale]\nshards = 3\n", FILES),
    ("people in shards, an ε small enough for it", change(
        LOANS, ('"1.0"', '"14.6"'), (TRIMMED, TRIMMED + '\nmatching = "ristretto255"'))
     + "\n[scale]\nshards = 3\n", FILES),
    ("people in shards", LOANS + "\n[scale]\nshards = 16\n", FILES),
    ("room for shards, and none", LOANS + "\n[scale]\n", FILES),
    ("people in shards, who is common hidden", change(
        LOANS, HIDDEN, FLIPS, JOINT, OF_P1) + "\n[scale]\nshards = 256\n", FILES),
    ("different people in shards", HORIZONTAL + "\n[scale]\nshards = 2\n", {}),
    ("different people in shards, as in the papers", change(
        HORIZONTAL, ("max_records", 'profile = "paper"\nmax_records')) + "\n[scale]\nshards = 3\n", {}),
]
NUMBER = "specializations = 10"
LATER += [
    ("as many specializations as the records bear", change(LOANS, (NUMBER, "")), FILES),
    ("the same, said", change(LOANS, (NUMBER, 'specializations = "auto"')), FILES),
    ("as many as the expected records bear", change(
        LOANS, (NUMBER, "expected_records = 30000")), FILES),
]
ACKNOWLEDGED = 'acknowledge = "not differentially private"\n'
GROUPS = """[release]
id = "g1"
partition = "local"
model = "MODEL"
max_records = 1000
[MODEL]
""" + ACKNOWLEDGED
BANDS = RACE + 'taxonomy = { Any = { A = ["a", "b"], B = ["c"] } }\n'
ILL = BANDS.replace("race", "ill") + BANDS.replace("race", "job")
LKC, LATTICE = GROUPS.replace("MODEL", "lkc"), GROUPS.replace("MODEL", "lattice")
LATER += [
    ("k-anonymity", LKC + "k = 5\n" + CLASS + AGE + BANDS, {}),
    ("requirements on lists of attributes, and a second release accepted", change(
        LKC, ("max_records", "accept_composition = true\nmax_records"))
     + 'score = "max"\nbeneficial = false\nsensitive = "ill"\nprotect = ["c", "a"]\n'
     + '[[lkc.requirement]]\nattributes = ["race", "age"]\nl = 1\nk = 3\nc = "0.50"\n'
     + '[[lkc.requirement]]\nattributes = ["job"]\nk = 1\nc = "0.250"\n'
     + CLASS + AGE + BANDS + ILL, {}),
    ("a lattice of cuts", LATTICE + 'k = 2\nl = 1\nsearch = "cuts"\n' + CLASS + BANDS, {}),
]
RIDES = GROUPS.replace("MODEL", "trajectory")
LONG = 'id = "person"\nlocation = "place"\ntime = "minute"\n'
LATER += [
    ("paths in wide form", RIDES + "l = 2\nk = 30\n" + CLASS, {}),
    ("paths in long form, with all that can be said", change(
        RIDES, ("max_records", "accept_composition = true\nmax_records"))
     + 'l = 16\nk = 1\nc = "0.60"\nprotect = ["N"]\nsupport = "0.010"\nscore = "gain"\n'
     + LONG + "bin = 60\ncollapse = true\n" + CLASS, {}),
    ("paths with an identifier in a column of another name",
     RIDES + 'l = 1\nk = 2\nscore = "loss"\npath = "Weg"\nid = "who"\n' + CLASS, {}),
]
RIDES_OF_TWO = change(RIDES, ('"local"', '"horizontal"')) + "l = 2\nk = 30\n"
COUNTED = change(RIDES_OF_TWO, ("max_records", "overlap_check = true\nmax_records"))
LATER += [
    ("paths of two parties' different people", RIDES_OF_TWO + PARTIES + CLASS, {}),
    ("the same, and nobody may be in both tables",
     COUNTED + 'id = "ssn"\n' + PARTIES + ID + CLASS, {}),
]
VERTICAL = change(LKC, ('"local"', '"vertical"')) + "k = 5\n"
PAPER_ROWS = change(VERTICAL, ("max_records", 'profile = "paper"\nmax_records'))
OWNED = (PARTIES + ID + CLASS + change(AGE, ("kind", 'owner = "p1"\nkind'))
         + change(BANDS, ("kind", 'owner = "p2"\nkind')))
LATER += [
    ("groups of two parties' people", VERTICAL + OWNED, {}),
    ("the same, with single people told of as in the papers",
     PAPER_ROWS + 'linkage = "rows"\nscore = "gain-ratio"\nslack = "0.010"\n' + OWNED, {}),
    ("groups of two parties' different people",
     change(LKC, ('"local"', '"horizontal"')) + "k = 5\n" + PARTIES + CLASS + AGE + BANDS, {}),
]
MANY = "".join(AGE.replace("age", f"n{number}") for number in range(24))
INVALID = [
    ("groups without a word that they are not differentially private", change(
        LKC, (ACKNOWLEDGED, "")) + "k = 5\n" + CLASS + AGE, ["missing-key"]),
    ("groups that may be of one", LKC + "k = 1\n" + CLASS + AGE, ["out-of-range"]),
    ("more combinations than can be tested", LKC + "k = 5\nl = 12\n" + CLASS + MANY, ["too-large"]),
    ("a lattice of numbers", LATTICE + "k = 2\n" + CLASS + AGE, ["does-not-apply"]),
    ("a lattice with a score", LATTICE + 'k = 2\nscore = "max"\n' + CLASS + BANDS, ["unknown-key"]),
    ("paths with attributes", RIDES + "l = 2\nk = 2\n" + CLASS + AGE, ["does-not-apply"]),
    ("paths of which nothing is known", RIDES + "l = 0\nk = 2\n" + CLASS, ["out-of-range"]),
    ("paths in both forms", RIDES + 'l = 2\nk = 2\npath = "way"\n' + LONG + CLASS, ["does-not-apply"]),
    ("places without times", RIDES + 'l = 2\nk = 2\nid = "i"\nlocation = "p"\n' + CLASS,
     ["missing-key"]),
    ("paths whose protected value there is not",
     RIDES + 'l = 2\nk = 2\nc = "0.5"\nprotect = ["M"]\n' + CLASS, ["does-not-apply"]),
    ("paths of the same people at two parties",
     change(RIDES, ('"local"', '"vertical"')) + "l = 2\nk = 2\n" + PARTIES + ID + CLASS,
     ["does-not-apply"]),
    ("paths of people who are counted by a column that is not read",
     COUNTED + 'id = "who"\n' + PARTIES + ID + CLASS, ["does-not-apply"]),
    ("larger groups of paths than there are", RIDES + "l = 2\nk = 1001\n" + CLASS, ["out-of-range"]),
    ("larger groups than there are people", LKC + "k = 1001\n" + CLASS + AGE, ["out-of-range"]),
    ("larger groups than two parties have people", change(LKC, ('"local"', '"horizontal"'))
     + "k = 2001\n" + PARTIES + CLASS + AGE, ["out-of-range"]),
    ("a bound on nothing", RIDES + 'l = 2\nk = 2\nc = "0.5"\n' + CLASS, ["does-not-apply"]),
    ("single people told of without the paper profile",
     VERTICAL + 'linkage = "rows"\n' + OWNED, ["does-not-apply"]),
    ("a score with logarithms of different people", change(LKC, ('"local"', '"horizontal"'))
     + 'k = 5\nscore = "info-gain"\n' + PARTIES + CLASS + AGE, ["does-not-apply"]),
    ("a slack below 0", VERTICAL + 'slack = "-0.1"\n' + OWNED, ["out-of-range"]),
    ("slack of one party", LKC + 'k = 5\nslack = "0.1"\n' + CLASS + AGE, ["does-not-apply"]),
    ("linkage of one party", LKC + 'k = 5\nlinkage = "sealed"\n' + CLASS + AGE, ["does-not-apply"]),
    ("a score of groups that neither of two parties may know",
     VERTICAL + 'score = "gain-per-loss"\n' + OWNED, ["does-not-apply"]),
    ("groups of two parties of which one has the class",
     VERTICAL + change(OWNED, ("[class]\n", '[class]\nowner = "p2"\n')), ["does-not-apply"]),
    ("not TOML", "[release", ["syntax"]),
    ("no purpose in quotes", change(LOCAL, ("max_records", 'purpose = ""\nmax_records')), ["bad-text"]),
    ("a purpose of more than one line", change(
        LOCAL, ("max_records", 'purpose = "a\\nb"\nmax_records')), ["bad-text"]),
    ("a purpose that is too long", change(
        LOCAL, ("max_records", f'purpose = "{"a" * 1001}"\nmax_records')), ["bad-text"]),
    ("a list of no contacts", change(LOCAL, ("max_records", "contacts = []\nmax_records")),
     ["out-of-range"]),
    ("contacts that are no list", change(LOCAL, ("max_records", 'contacts = "a"\nmax_records')),
     ["wrong-type"]),
    ("a contact twice", change(LOCAL, ("max_records", 'contacts = ["a", "a"]\nmax_records')),
     ["duplicate"]),
    ("valid until a day that there is not", change(
        LOCAL, ("max_records", 'valid_until = "2027-02-29"\nmax_records')), ["bad-text"]),
    ("valid until a day that is not in quotes", change(
        LOCAL, ("max_records", "valid_until = 2027-03-31\nmax_records")), ["wrong-type"]),
    ("an ε that is too large for the oblivious function", change(
        LOANS, ('"1.0"', '"15.1"'), (TRIMMED, TRIMMED + '\nmatching = "oprf"')), ["does-not-apply"]),
    ("an ε that is too large for the oblivious function in shards", change(
        LOANS, ('"1.0"', '"14.9"'), (TRIMMED, TRIMMED + '\nmatching = "oprf"'))
     + "\n[scale]\nshards = 3\n", ["does-not-apply"]),
    ("unknown key", change(LOANS, ("profile =", "profiles =")), ["unknown-key"]),
    ("unknown section", LOANS + "\n[colour]\n", ["unknown-key"]),
    ("a part of ε for choices that nobody makes", change(
        LOANS, ('utility = "max"', 'utility = "range"'), ('selection = "exponential"', "")),
     ["does-not-apply"]),
    ("no class where choices are scored by it", change(LOANS, (OF_LOANS, "")), ["missing-key"]),
    ("no ε", change(LOANS, ('epsilon = "1.0"', "")), ["missing-key"]),
    ("ε as a float", change(LOANS, ('"1.0"', "1.0")), ["wrong-type"]),
    ("ε is zero", change(LOANS, ('"1.0"', '"0.0"')), ["out-of-range"]),
    ("ε with an exponent", change(LOANS, ('"1.0"', '"1e0"')), ["out-of-range"]),
    ("ε with a leading zero", change(LOANS, ('"1.0"', '"01.0"')), ["out-of-range"]),
    ("an id that is no file name", change(LOANS, ('"loans-2026q4"', '"../loans"')), ["bad-text"]),
    ("records expected where the number is given", change(
        LOANS, (NUMBER, NUMBER + "\nexpected_records = 30000")), ["does-not-apply"]),
    ("the paper profile without a number", change(PAPER, (NUMBER, ""), (CRYPTO, "")), ["missing-key"]),
    ("more specializations than possible", change(
        LOANS, ("specializations = 10", "specializations = 86")), ["out-of-range"]),
    ("the paper profile with another noise", change(
        PAPER, (CRYPTO, ""), ('"two-party"', '"joint"')), ["does-not-apply"]),
    ("the paper profile with a table by transfers", PAPER, ["does-not-apply"]),
    ("a joint table of counts in a horizontal release", HORIZONTAL + "\n" + CRYPTO + "\n",
     ["does-not-apply"]),
    ("the paper profile with a word about transfers", change(
        PAPER, (CRYPTO, '[crypto]\ntransfers = "auto"')), ["does-not-apply"]),
    ("transfers from elsewhere", change(LOANS, (CRYPTO, CRYPTO + '\ntransfers = "air"')),
     ["unknown-word"]),
    ("a third way to count", change(LOANS, ('"transfers"', '"pigeons"')), ["unknown-word"]),
    ("same fingerprint twice", change(LOANS, (B1, C1)), ["duplicate"]),
    ("a fingerprint of another length", change(LOANS, (B1, B1 + "00")), ["bad-text"]),
    ("an owner in a horizontal release", change(
        HORIZONTAL, ('name = "age"', 'name = "age"\nowner = "p1"')), ["does-not-apply"]),
    ("info-gain in a horizontal release", change(
        HORIZONTAL, ("max_records", 'utility = "info-gain"\nmax_records')), ["does-not-apply"]),
    ("identifier without overlap check", HORIZONTAL + ID, ["does-not-apply"]),
    ("more people in common than there are records", change(
        LOANS, (TRIMMED, TRIMMED + "\nmin_common = 100001")), ["out-of-range"]),
    ("people matched by a word that nobody knows", change(
        LOANS, (TRIMMED, TRIMMED + '\nmatching = "rsa"')), ["unknown-word"]),
    ("the paper profile with people matched by the function", change(
        LOANS, ('profile = "default"', 'profile = "paper"'), (CRYPTO, ""),
        (TRIMMED, TRIMMED + '\nmatching = "oprf"')), ["does-not-apply"]),
    ("a rehearsal of a horizontal release", change(
        HORIZONTAL, ("max_records", "overlap_check = true\nmax_records")) + ID + "rehearse = true\n",
     ["does-not-apply"]),
    ("a class of one party in a local release", change(
        LOCAL, ('column = "class"', 'column = "class"\nowner = "p1"')), ["does-not-apply"]),
    ("the exponential mechanism with the class at one party", change(
        LOANS, (APPROVED, APPROVED + '\nowner = "p1"')), ["does-not-apply"]),
    ("info-gain with the class at one party", change(
        LOANS, (APPROVED, APPROVED + '\nowner = "p2"'), FLIPS, ('"max"', '"info-gain"')),
     ["does-not-apply"]),
    ("1025 points of the party without the class", change(
        LOANS, (APPROVED, APPROVED + '\nowner = "p1"'), FLIPS, ("max = 99", "max = 1042")),
     ["out-of-range"]),
    ("labels to be compared with nobody", change(
        LOANS, (APPROVED, APPROVED + '\nowner = "p1"'), FLIPS,
        (TRIMMED, TRIMMED + '\nrehearse = "labels"')), ["does-not-apply"]),
    ("who is common hidden where both have the class", change(LOANS, HIDDEN, FLIPS, JOINT),
     ["does-not-apply"]),
    ("who is common hidden with leaf-max", change(
        LOANS, HIDDEN, FLIPS, JOINT, OF_P1, ('"max"', '"leaf-max"')), ["does-not-apply"]),
    ("who is common hidden with a noise of each", change(LOANS, HIDDEN, FLIPS, OF_P1),
     ["does-not-apply"]),
    ("who is common hidden with the exponential mechanism", change(LOANS, HIDDEN, JOINT, OF_P1),
     ["does-not-apply"]),
    ("who is common hidden, and so many must be", change(
        LOANS, HIDDEN, FLIPS, JOINT, OF_P1, ('"hidden"', '"hidden"\nmin_common = 0')),
     ["does-not-apply"]),
    ("who is common hidden, and a rehearsal", change(
        LOANS, HIDDEN, FLIPS, JOINT, OF_P1, ('"hidden"', '"hidden"\nrehearse = true')),
     ["does-not-apply"]),
    ("who is common hidden, and found by encryption", change(
        LOANS, HIDDEN, FLIPS, JOINT, OF_P1, ('"hidden"', '"hidden"\nmatching = "ristretto255"')),
     ["does-not-apply"]),
    ("who is common hidden, and an ε that is too large", change(
        LOANS, HIDDEN, FLIPS, JOINT, OF_P1, ('"1.0"', '"13.1"')), ["does-not-apply"]),
    ("who is common hidden, and a table under encryption", change(
        LOANS, HIDDEN, FLIPS, JOINT, OF_P1, ('"transfers"', '"paillier"')), ["does-not-apply"]),
    ("1025 points of the party with the class, who is common hidden", change(
        LOANS, HIDDEN, FLIPS, JOINT, (APPROVED, APPROVED + '\nowner = "p2"'),
        ("max = 99", "max = 1042")), ["out-of-range"]),
    ("padded beyond the bound", change(
        LOANS, HIDDEN, FLIPS, JOINT, OF_P1, ('"hidden"', '"hidden"\npad_to = 100001')),
     ["out-of-range"]),
    ("padded to nothing", change(
        LOANS, HIDDEN, FLIPS, JOINT, OF_P1, ('"hidden"', '"hidden"\npad_to = 0')),
     ["out-of-range"]),
    ("padded where everything is shown", change(LOANS, (TRIMMED, TRIMMED + "\npad_to = 100000")),
     ["does-not-apply"]),
    ("membership that nobody knows", change(
        LOANS, (TRIMMED, TRIMMED + '\nmembership = "secret"')), ["unknown-word"]),
    ("membership in a horizontal release", change(
        HORIZONTAL, ("max_records", "overlap_check = true\nmax_records")) + ID
     + 'membership = "hidden"\n', ["does-not-apply"]),
    ("an epsilon of a rehearsal that spends none", change(
        LOANS, (TRIMMED, TRIMMED + '\nrehearse = true\nrehearse_epsilon = "0.1"')),
     ["does-not-apply"]),
    ("a noisy rehearsal for too much", change(
        LOANS, (TRIMMED, TRIMMED + '\nrehearse = "noisy"\nrehearse_epsilon = "13.01"')),
     ["out-of-range"]),
    ("a noisy rehearsal of a horizontal release", change(
        HORIZONTAL, ("max_records", "overlap_check = true\nmax_records")) + ID
     + 'rehearse = "noisy"\n', ["does-not-apply"]),
    ("a rehearsal of something else", change(
        LOANS, (TRIMMED, TRIMMED + '\nrehearse = "everything"')), ["unknown-word"]),
    ("more shards than there may be", LOANS + "\n[scale]\nshards = 257\n", ["out-of-range"]),
    ("no shard", LOANS + "\n[scale]\nshards = 0\n", ["out-of-range"]),
    ("shards that count under encryption", change(
        LOANS, ('"transfers"', '"paillier"')) + "\n[scale]\nshards = 2\n", ["does-not-apply"]),
    ("shards in which both would count who is in both tables", change(
        HORIZONTAL, ("max_records", "overlap_check = true\nmax_records")) + ID
     + "\n[scale]\nshards = 2\n", ["does-not-apply"]),
    ("shards of different people in groups", change(LKC, ('"local"', '"horizontal"')) + "k = 5\n"
     + PARTIES + CLASS + AGE + BANDS + "\n[scale]\nshards = 2\n", ["does-not-apply"]),
    ("shards of paths", RIDES_OF_TWO + PARTIES + CLASS + "\n[scale]\nshards = 2\n",
     ["does-not-apply"]),
    ("shards of one party", LOCAL + "\n[scale]\nshards = 2\n", ["does-not-apply"]),
    ("1025 points in a horizontal release", change(
        HORIZONTAL, ("max = 99", "max = 10240")), ["out-of-range"]),
    ("parties in a local release", LOCAL + PARTIES, ["does-not-apply"]),
    ("a set in a vertical release", change(LOANS, ('"categorical"', '"set"')), ["does-not-apply"]),
    ("edges that do not ascend", change(LOCAL, (STEPS, "edges = [0, 2, 2]")), ["out-of-range"]),
    ("one edge", change(LOCAL, (STEPS, "edges = [0]")), ["out-of-range"]),
    ("edges beside a range", change(LOCAL, (STEPS, STEPS + "\nedges = [0, 9, 18, 65, 120]")),
     ["does-not-apply", "does-not-apply", "does-not-apply"]),
    ("an edge with an exponent", change(LOCAL, (STEPS, "edges = [0, 1e3]")), ["out-of-range"]),
    ("a logarithmic scale from 0", change(
        LOCAL, (STEPS, 'scale = "log"\nmin = 0\nmax = 70')), ["out-of-range"]),
    ("a day that there is not", LOCAL + change(VISIT, ("1999-12-31", "1999-02-29")), ["out-of-range"]),
    ("a day without quotes", LOCAL + change(VISIT, ('"1999-12-31"', "1999-12-31")), ["wrong-type"]),
    ("a step of weeks", LOCAL + VISIT + 'step = "week"\n', ["unknown-word"]),
    ("a format without a year", LOCAL + VISIT + 'format = "%d.%m."\n', ["out-of-range"]),
    ("days in a horizontal release", HORIZONTAL + VISIT + 'step = "day"\n', ["out-of-range"]),
    ("a taxonomy of a boolean", LOCAL + SMOKES + 'taxonomy = { A = ["true"] }\n', ["does-not-apply"]),
    ("values outside a taxonomy", LOCAL + SMOKES + 'outside = "nearest"\n', ["does-not-apply"]),
    ("missing values of which nothing is said", LOCAL + SMOKES + 'missing_values = ["NA"]\n',
     ["does-not-apply"]),
    ("a value named as missing ones", LOCAL + RACE
     + 'taxonomy = { Any = ["White", "missing"] }\nmissing = "category"\n', ["taxonomy"]),
    ("a step that does not divide the range", change(LOANS, ("step = 1", "step = 4")),
     ["out-of-range"]),
    ("a value twice in a taxonomy", change(LOANS, ('"Female"', '"Male"')), ["taxonomy"]),
    ("two spellings of one value", LOCAL + RACE + 'taxonomy = { A = ["\u00e9", "e\u0301"] }\n',
     ["taxonomy"]),
    ("two roots", LOCAL + RACE + "taxonomy = { A = [], B = [] }\n", ["taxonomy"]),
    ("a taxonomy file that is not there", change(LOANS, ("job.csv", "jobs.csv")), ["taxonomy-file"]),
    ("a taxonomy file elsewhere", change(LOANS, ("job.csv", "../job.csv")), ["taxonomy-file"]),
    ("a column named as the counts", change(LOANS, ('"approved"', '"count"')), ["duplicate"]),
    ("an invisible character in a name", change(LOANS, ('"Bank"', '"Ba\\u202enk"')), ["bad-text"]),
    ("a Paillier key that is too short", change(
        LOANS, (CRYPTO, "[crypto]\npaillier_bits = 1024")), ["out-of-range"]),
    ("three problems in the order of the file", change(
        LOANS, ('"1.0"', "1.0"), ('["Y", "N"]', '["Y", "Y"]'), ("max = 99", 'max = "x"')),
     ["wrong-type", "duplicate", "out-of-range"]),
]
EXAMPLE = canonical(LOANS, FILES)
NOT_CANONICAL = [
    ("white space", EXAMPLE.replace(",", ", ", 1), ["not-canonical"]),
    ("a decimal that is not in normal form", change(
        EXAMPLE, ('"epsilon":"1"', '"epsilon":"1.0"')), ["not-canonical"]),
    ("a number for text", change(EXAMPLE, ('"min":"18"', '"min":18')), ["not-canonical"]),
    ("a default left out", change(EXAMPLE, ('"profile":"default",', "")), ["not-canonical"]),
    ("a key twice", change(
        EXAMPLE, ('"profile":"default"', '"profile":"default","profile":"default"')),
     ["not-canonical"]),
    ("another version", change(EXAMPLE, ("agreement-2", "agreement-3")), ["unknown-word"]),
    ("another model", change(EXAMPLE, ('"model":"diffgen"', '"model":"diffgem"')), ["unknown-word"]),
    ("the model left out", change(EXAMPLE, ('"model":"diffgen",', "")), ["not-canonical"]),
    ("a former version that names a model", change(EXAMPLE, ("agreement-2", "agreement-1")),
     ["not-canonical"]),
    ("a default of a key that came later", change(
        EXAMPLE, ('"id":{"column":"id",', '"id":{"column":"id","min_common":1,')), ["not-canonical"]),
    ("a former version with a key that came later", change(
        EXAMPLE, ("agreement-2", "agreement-1"), ('"model":"diffgen",', ""),
        ('"id":{"column":"id",', '"id":{"column":"id","min_common":2,')), ["not-canonical"]),
    ("a former version with a purpose", change(
        EXAMPLE, ("agreement-2", "agreement-1"), ('"model":"diffgen",', ""),
        ('"profile":"default",', '"profile":"default","purpose":"x",')), ["not-canonical"]),
    ("a list of no contacts", change(EXAMPLE, ('"release":{', '"release":{"contacts":[],')),
     ["out-of-range"]),
    ("a line break at the end", EXAMPLE + "\n", ["not-canonical"]),
    ("cut short", EXAMPLE[:-1], ["syntax"]),
]


def main():
    number = 0
    groups = [{"type": "AgreementToml", "tests": []}, {"type": "AgreementCanonical", "tests": []},
              {"type": "AgreementFormer", "tests": []}]

    def add(group, comment, flags, **rest):
        nonlocal number
        number += 1
        groups[group]["tests"].append(
            {"tcId": number, "comment": comment, "flags": flags, **rest})

    def hashed(form):
        return {"canonical": form, "sha256": hashlib.sha256(form.encode()).hexdigest()}

    for comment, toml, files in VALID + LATER:
        add(0, comment, [], toml=toml, files=files, **hashed(canonical(toml, files)), result="valid")
    for comment, toml, errors in INVALID:
        add(0, comment, ["Refused"], toml=toml, files=FILES, errors=errors, result="invalid")
    add(1, "the example of examples/loans", [], **hashed(EXAMPLE), result="valid")
    for comment, form, errors in NOT_CANONICAL:
        add(1, comment, ["Refused"], canonical=form, errors=errors, result="invalid")
    # Older manifests hold a form that names no model: it is read as the same agreement. They know of
    # no choice of transfers.
    for comment, toml, files in VALID:
        form = canonical(toml, files)
        if '"transfers":"no-lpn"' in form:
            continue
        former = form.replace("diptych-agreement-2", "diptych-agreement-1", 1)
        former = former.replace('"model":"diffgen",', "", 1)
        add(2, comment, ["Former"], former=former, **hashed(form), result="valid")
    document = {
        "algorithm": "diptych-agreement-2",
        "schema": "schema/agreement.json",
        "numberOfTests": number,
        "notes": {"Refused": "The text must be refused for exactly the reasons in `errors`, in the "
                             "order of the file.",
                  "Former": "The form `former` must be read as the agreement whose form today is "
                            "`canonical`."},
        "testGroups": groups,
    }
    lines = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    (HERE / "agreement.json").write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    main()
