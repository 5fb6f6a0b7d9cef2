"""Lists what changed since a generation, and prints the generation to continue from."""

from software_directory import GoneError, SoftwareDirectory

with SoftwareDirectory() as client:
    # Without a generation there are no changes, only the current generation to start from.
    generation = client.changes.since().to_generation
    for change in client.changes.since(generation):
        print(change["change"], change["id"])
    print("up to date with", generation)

    try:
        client.changes.since("a generation from last year")
    except GoneError:
        print("too old: download the exports")
