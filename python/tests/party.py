"""One party of a test, in a process of its own: what it does comes as JSON, and what came of it goes so."""

import json
import os
import signal
import sys


def main():
    spec = json.load(sys.stdin)
    # What a shell may have told its children to ignore is heard here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    import diptych

    def told(progress):
        if progress.line:
            print(progress.line, flush=True)
        if progress.line and spec.get("at") and spec["at"] in progress.line:
            if spec["then"] == "die":
                os._exit(9)
            if spec["then"] == "interrupt":
                os.kill(os.getpid(), signal.SIGINT)
            if spec["then"] == "raise":
                raise RuntimeError("the callback failed")

    try:
        result = act(diptych, spec, told)
    except (diptych.DiptychError, diptych.Interrupted) as error:
        result = {
            "error": type(error).__name__,
            "status": error.status,
            "message": error.message,
            "advice": error.advice,
            "text": str(error),
            "cause": type(error.__cause__).__name__,
        }
    except BaseException as error:
        result = {"error": type(error).__name__, "text": str(error), "cause": type(error.__cause__).__name__}
    print(json.dumps(result), flush=True)


def act(diptych, spec, told):
    if spec["what"] == "run":
        agreement = spec["agreement"]
        if isinstance(agreement, dict):
            agreement = diptych.Agreement.from_dict(agreement)
        table = frame(spec["table"], spec["frame"])
        ports = spec.get("shard_ports", False)
        new = is_new_ledger(spec["party"])
        release = diptych.run(agreement, spec["party"], table, on_progress=told, shard_ports=ports, new_ledger=new)
        release.verify()
        return {"out": str(release.directory), "rows": len(release.to_dict()["count"])}
    if spec["what"] == "ray":
        return act_on_ray(diptych, spec, told)
    if spec["what"] == "local":
        release = diptych.local(spec["agreement"], frame(spec["table"], spec["frame"]), out=spec["out"])
        return {"out": str(release.directory)}
    if spec["what"] == "psi":
        found = diptych.psi(spec["identifiers"], on_progress=told, **spec["arguments"])
        return found._asdict()
    outputs = diptych.circuit.run(spec["file"], spec["inputs"], on_progress=told, **spec["arguments"])
    return {"outputs": outputs}


def is_new_ledger(party):
    """Of party files, tests make one run alone."""
    return not isinstance(party, dict) or not os.path.exists(party["ledger"])


def act_on_ray(diptych, spec, told):
    import diptych.ray
    import ray

    def killing(progress):
        told(progress)
        if progress.line and spec.get("kill_at") and spec["kill_at"] in progress.line:
            os.kill(actors()[0], signal.SIGKILL)

    ray.init(address="local", num_cpus=4, include_dashboard=False, log_to_driver=False)
    try:
        agreement = diptych.Agreement.from_dict(spec["agreement"])
        parts = spec["partitions"]
        if spec["frame"] == "dataset":
            parts = ray.data.read_parquet(parts)
        elif spec["frame"] != "paths":
            parts = [frame(part, spec["frame"]) for part in parts]
        new = is_new_ledger(spec["party"])
        release = diptych.ray.run(agreement, spec["party"], parts, on_progress=killing, new_ledger=new)
        release.verify()
        return {"out": str(release.directory), "rows": len(release.to_dict()["count"])}
    finally:
        ray.shutdown()


def actors():
    """Processes of this driver's own shards: its grandchildren, by way of Ray's raylet."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            name = open(f"/proc/{entry}/cmdline").read()
            parent = open(f"/proc/{entry}/stat").read().rsplit(")")[-1].split()[1]
            grandparent = open(f"/proc/{parent}/stat").read().rsplit(")")[-1].split()[1]
        except (OSError, ValueError, IndexError):
            continue
        if name.startswith("ray::") and "Shard" in name and int(grandparent) == os.getpid():
            found.append(int(entry))
    return sorted(found)


def frame(table, kind):
    if kind == "pandas":
        import pandas

        return pandas.DataFrame(table)
    if kind == "polars":
        import polars

        return polars.DataFrame(table)
    return table


main()
