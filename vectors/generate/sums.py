"""Writes ../SHA256SUMS over all documents and their schemas, as `sha256sum` would."""

import hashlib
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    files = sorted(ROOT.glob("*.json")) + sorted(ROOT.glob("schema/*.json"))
    lines = [f"{hashlib.sha256(f.read_bytes()).hexdigest()}  {f.relative_to(ROOT).as_posix()}\n" for f in files]
    (ROOT / "SHA256SUMS").write_text("".join(lines))


if __name__ == "__main__":
    main()
