"""Generates clients from the OpenAPI document, compiles them, and calls the binary with each of them.

    uv run --project tests/generators python tests/generators/check.py --binary FILE [--only NAME[,NAME…]]

Each client makes the calls in a plan: every page of every list, every record by its id, and each operation with its
parameters' examples. Every response must come out of the client's models as the service wrote it, even if a later version of
the service has added a member. Exit code 1 on any failure. Clients are generated and compiled in .tools/generators.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import time

import generators
from plan import Plan, plain
from service import Failure, LaterServer, Server


def check(generator, server, later, plan, folder):
    """Checks one generator and reports the result. Returns the failures."""
    started = time.monotonic()
    done = []
    try:
        generator.generate()
        done.append("generated")
        generator.compile(plan)
        done.append("compiled")
        failures, records = compare(plan, generator.call(server, plan, folder))
        done.append(f"{len(plan.calls) - len(failures)} of {len(plan.calls)} calls returned {records} records")
        if not failures:
            failures, records = compare(plan, generator.call(later, plan, folder))
            done.append(f"{records} with a member added later")
    except Failure as failure:
        failures = [str(failure)]
    print(f"{generator.name}: {', '.join(done) or 'not generated'} ({time.monotonic() - started:.0f} s)", flush=True)
    shown = [f"  {text}" for text in failures[:5]] + [f"  … and {len(failures) - 5} more"] * (len(failures) > 5)
    print("".join(f"{text}\n" for text in shown), end="", flush=True)
    return failures


def compare(plan, lines):
    """Returns the calls whose results differ from the service's, and how many records the other calls returned."""
    if len(lines) != len(plan.calls):
        return [f"{len(lines)} answers to {len(plan.calls)} calls"], 0
    failures, records = [], 0
    for call, line in zip(plan.calls, map(json.loads, lines)):
        if "error" in line:
            failures.append(f"{call['url']}: {line['error'][:600]}")
        elif difference := differs(plain(call["answer"]), plain(line["answer"]), ""):
            failures.append(f"{call['url']}: {difference}")
        else:
            data = call["answer"].get("data", call["answer"])
            records += len(data) if isinstance(data, list) else 1
    return failures, records


def differs(expected, found, at):
    """Describes the first difference, or returns None."""
    if isinstance(expected, dict) and isinstance(found, dict):
        names = [*expected, *(name for name in found if name not in expected)]
        pairs = [(f"{at}/{name}", expected.get(name), found.get(name)) for name in names]
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = [(f"{at}/{index}", *both) for index, both in enumerate(zip(expected, found))]
    else:
        return None if expected == found else f"{at or '/'}: {found!r} instead of {expected!r}"[:600]
    return next((text for here, *both in pairs if (text := differs(*both, here))), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--binary", type=pathlib.Path, required=True, help="the software-directory binary under test")
    parser.add_argument("--only", default="", help="comma-separated names of generators; all by default")
    options = parser.parse_args()
    started = time.monotonic()
    failed = []
    try:
        if not options.binary.is_file():
            raise Failure(f"there is no binary {options.binary}; build it with `cargo build`")
        chosen = generators.choose([name for name in options.only.split(",") if name])
        with tempfile.TemporaryDirectory(prefix="generators-") as temporary:
            folder = pathlib.Path(temporary)
            server = Server(options.binary.resolve(), folder)
            later = LaterServer(server)
            try:
                document = server.get("/openapi.json")
                plan = Plan(document, server.get)
                plan.needs_all_bundled()
                generators.write(document)
                print(f"generators: {plan.summary()}", flush=True)
                for generator in chosen:
                    failed += [generator.name] * bool(check(generator, server, later, plan, folder))
                server.finish()
            finally:
                later.stop()
                server.stop()
    except Failure as failure:
        print(f"generators: {failure}", file=sys.stderr)
        return 1
    if failed:
        print(f"generators: failed: {', '.join(failed)}", file=sys.stderr)
        return 1
    print(f"generators: ok. {len(chosen)} clients, {len(plan.calls)} calls with each, {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
