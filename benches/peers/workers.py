"""One piece of a peer's work, in an environment that has the peer: prints JSON.

    workers.py WORK [SIZE]

`run.py` calls it. CPU time is that of all threads of the processes that do the work, without
starting them and loading libraries; `bytes` is what crosses the line where the peer says it.
"""

import json
import multiprocessing
import pathlib
import socket
import sys
import tempfile
import time
from importlib import metadata


def identifiers(first, count):
    """So many names; lists that begin at different places have the rest in common."""
    return [f"person-{number:012d}" for number in range(first, first + count)]


def openmined(size):
    """Diffie-Hellman on a curve; the answer as a Golomb-compressed set."""
    import private_set_intersection.python as psi
    ours, theirs = identifiers(0, size), identifiers(size // 2, size)
    began = time.process_time()
    client, server = psi.client.CreateWithNewKey(True), psi.server.CreateWithNewKey(True)
    setup = server.CreateSetupMessage(1e-9, size, theirs, psi.DataStructure.GCS)
    request = client.CreateRequest(ours)
    response = server.ProcessRequest(request)
    common = client.GetIntersection(setup, response)
    cpu = time.process_time() - began
    assert len(common) == size - size // 2, len(common)
    sent = sum(len(message.SerializeToString()) for message in (setup, request, response))
    return {"cpu": cpu, "bytes": sent, "version": metadata.version("openmined.psi")}


def spu_party(rank, protocol, size, addresses, place, answers):
    import spu
    from spu import libspu, psi
    path = pathlib.Path(place) / f"{rank}.csv"
    path.write_text("id\n" + "\n".join(identifiers(rank * (size // 2), size)) + "\n")
    parties = libspu.link.Desc()
    for number, address in enumerate(addresses):
        parties.add_party(str(number), address)
    link = libspu.link.create_brpc(parties, rank)
    curve = psi.EcdhParams(curve=psi.parse_curve_type("CURVE_25519"))
    config = psi.PsiExecuteConfig(
        protocol_conf=psi.PsiProtocolConfig(
            protocol=psi.parse_protocol(protocol), receiver_rank=0, broadcast_result=True,
            ecdh_params=curve),
        input_params=psi.InputParams(path=str(path), selected_keys=["id"], keys_unique=True),
        output_params=psi.OutputParams(path=str(path) + ".out", disable_alignment=True))
    began = time.process_time()
    try:
        report = psi.psi_execute(config, link)
    except RuntimeError as error:
        return answers.put((0.0, " ".join(str(error).split())[:200], spu.__version__))
    cpu = time.process_time() - began
    answers.put((cpu, report.intersection_count, spu.__version__))


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def spu(protocol, size):
    """Two processes over loopback, each from its CSV file to a CSV file, as their users would."""
    processes = multiprocessing.get_context("spawn")
    answers = processes.Queue()
    addresses = [f"127.0.0.1:{free_port()}" for _ in range(2)]
    with tempfile.TemporaryDirectory() as place:
        parties = [processes.Process(target=spu_party,
                                     args=(rank, protocol, size, addresses, place, answers))
                   for rank in range(2)]
        for party in parties:
            party.start()
        found = [answers.get(timeout=600) for _ in parties]
        for party in parties:
            party.join()
    assert all(common == size - size // 2 for _, common, _ in found), found
    return {"cpu": sum(cpu for cpu, _, _ in found), "version": found[0][2]}


def phe(bits):
    """Per number: encryption by the key's owner (it knows no faster one), decryption."""
    import random
    import phe
    import phe.util
    public, secret = phe.generate_paillier_keypair(n_length=bits)
    numbers = [random.randrange(public.n) for _ in range(20)]
    began = time.process_time()
    encrypted = [public.raw_encrypt(number) for number in numbers]
    between = time.process_time()
    assert [secret.raw_decrypt(one) for one in encrypted] == numbers
    ended = time.process_time()
    return {"encrypt_ms": (between - began) / len(numbers) * 1e3,
            "decrypt_ms": (ended - between) / len(numbers) * 1e3,
            "version": metadata.version("phe")
            + (" with gmpy2" if getattr(phe.util, "HAVE_GMP", False) else "")}


def census(records):
    """A table like Adult: eight attributes of few values and six of twenty bins, and a class."""
    import numpy
    import pandas
    chance = numpy.random.default_rng(1)
    widths = [7, 16, 7, 14, 6, 5, 2, 41] + 6 * [20]
    columns = {f"a{place}": (chance.beta(2, 4, records) * width).astype(int)
               for place, width in enumerate(widths)}
    odds = columns["a3"] / 14 + columns["a8"] / 20 + chance.random(records)
    columns["class"] = (odds > 1.2).astype(int)
    return pandas.DataFrame(columns)


def mst(records):
    """A table by MST from smartnoise-synth, ε = 1, numbers in bins already."""
    from snsynth import Synthesizer
    frame = census(records)
    began = time.process_time()
    made = Synthesizer.create("mst", epsilon=1.0, verbose=False).fit_sample(
        frame, categorical_columns=list(frame.columns), preprocessor_eps=0.0)
    cpu = time.process_time() - began
    assert len(made) > records // 2
    return {"cpu": cpu, "version": metadata.version("smartnoise-synth")}


def private_pgm(records):
    """Private-PGM alone (`mbi`): noisy pairs of the class with each attribute, and a table that
    agrees with them."""
    import numpy
    from mbi import Dataset, Domain, LinearMeasurement, estimation
    frame = census(records)
    domain = Domain(tuple(frame.columns), tuple(int(frame[column].max()) + 1 for column in frame))
    began = time.process_time()
    data = Dataset(frame.to_numpy(), domain)
    chance = numpy.random.default_rng(2)
    measured = []
    for column in frame.columns[:-1]:
        counts = numpy.asarray(data.project((column, "class")).datavector())
        noise = chance.laplace(scale=14.0, size=counts.size)
        measured.append(LinearMeasurement(counts + noise, (column, "class"), 20.0))
    model = estimation.mirror_descent(domain, measured, iters=1000)
    made = model.synthetic_data(rows=records)
    cpu = time.process_time() - began
    assert made.df.shape[0] == records
    return {"cpu": cpu, "version": metadata.version("mbi")}


def forest(records):
    """A random forest of diffprivlib, ε = 1, with its defaults but depth 5: a classifier, no table."""
    from diffprivlib.models import RandomForestClassifier
    frame = census(records)
    values, classes = frame.drop(columns="class").to_numpy(float), frame["class"].to_numpy()
    began = time.process_time()
    RandomForestClassifier(epsilon=1.0, max_depth=5, bounds=(values.min(0), values.max(0)),
                           classes=[0, 1]).fit(values, classes)
    return {"cpu": time.process_time() - began, "version": metadata.version("diffprivlib")}


WORKS = {
    "openmined": openmined,
    "spu-rr22": lambda size: spu("PROTOCOL_RR22", size),
    "spu-kkrt": lambda size: spu("PROTOCOL_KKRT", size),
    "spu-ecdh": lambda size: spu("PROTOCOL_ECDH", size),
    "phe": phe,
    "mst": mst,
    "private-pgm": private_pgm,
    "diffprivlib": forest,
}

if __name__ == "__main__":
    print(json.dumps(WORKS[sys.argv[1]](int(sys.argv[2]))))
