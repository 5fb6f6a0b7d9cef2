"""Lists what changed in a product's record."""

from software_directory import SoftwareDirectory

with SoftwareDirectory() as client:
    history = client.software.history("demo-audit-owl")
    print("recorded since", history.since)
    for entry in history:
        for change in entry["changes"]:
            print(entry["at"], change["property"], change.get("from"), "->", change.get("to"))
