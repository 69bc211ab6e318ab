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
        release = diptych.run(agreement, spec["party"], table, on_progress=told)
        release.verify()
        return {"out": str(release.directory), "rows": len(release.to_dict()["count"])}
    if spec["what"] == "local":
        release = diptych.local(spec["agreement"], frame(spec["table"], spec["frame"]), out=spec["out"])
        return {"out": str(release.directory)}
    if spec["what"] == "psi":
        found = diptych.psi(spec["identifiers"], on_progress=told, **spec["arguments"])
        return found._asdict()
    outputs = diptych.circuit.run(spec["file"], spec["inputs"], on_progress=told, **spec["arguments"])
    return {"outputs": outputs}


def frame(table, kind):
    if kind == "pandas":
        import pandas

        return pandas.DataFrame(table)
    if kind == "polars":
        import polars

        return polars.DataFrame(table)
    return table


main()
