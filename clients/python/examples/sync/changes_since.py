"""Lists what changed since a generation, and where to go on from."""

from software_directory import GoneError, SoftwareDirectory

with SoftwareDirectory() as client:
    # Without a generation there are no changes: it is where to begin.
    generation = client.changes.since().to_generation
    for change in client.changes.since(generation):
        print(change["change"], change["id"])
    print("up to date with", generation)

    try:
        client.changes.since("a generation of last year")
    except GoneError:
        print("too old: download the exports")
