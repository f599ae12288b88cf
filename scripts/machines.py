"""The table of machines, scripts/machines."""

import collections
import pathlib

TABLE = pathlib.Path(__file__).resolve().parent / "machines"
Machine = collections.namedtuple("Machine", "name via backend options xen trace")


def machines():
    """All rows of the table: {name: Machine}."""
    rows = {}
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            machine = Machine(*(column.strip() for column in line.split("|")))
            rows[machine.name] = machine
    return rows


def machine(name):
    """The row of that name; ValueError, naming those that exist, without one."""
    try:
        return machines()[name]
    except KeyError:
        raise ValueError(f"MACHINE={name} is unknown; known: {' '.join(machines())}") from None
