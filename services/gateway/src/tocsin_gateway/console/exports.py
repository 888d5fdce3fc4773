"""Lists of runs for other programs: JSON, and a table that no spreadsheet runs as a formula."""

import csv
import io
import json
import re
from collections.abc import Sequence

from starlette.responses import Response

from tocsin_gateway.console.desk import Listed

COLUMNS = (
    "run_id",
    "state",
    "severity",
    "title",
    "source",
    "cluster",
    "namespace",
    "workload",
    "deliveries",
    "created_at",
    "updated_at",
    "ended",
)
_INSIDE = re.compile(r"([;\t]\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
"""Where another cell may begin for programs that take lists to be separated so."""

_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r", "\n")


def as_json(runs: Sequence[Listed]) -> Response:
    """Return the lines as the API tells them, with where each alert came from."""
    told = [one.line.model_dump(mode="json") | {"source": one.source} for one in runs]
    return _file(json.dumps({"runs": told}), "application/json", "runs.json")


def as_csv(runs: Sequence[Listed]) -> Response:
    """Return a table with a heading; what would be a formula begins with an apostrophe."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(COLUMNS)
    table.writerows([_cell(cell) for cell in _row(one)] for one in runs)
    return _file(text.getvalue(), "text/csv; charset=utf-8", "runs.csv")


def _row(one: Listed) -> tuple[str, ...]:
    line, workload = one.line, one.line.workload
    place = (workload.cluster, workload.namespace, workload.name) if workload else ("", "", "")
    return (
        line.run_id,
        line.state.value,
        line.severity.value,
        line.title,
        one.source,
        *place,
        str(line.occurrences),
        line.created_at.isoformat(),
        line.updated_at.isoformat(),
        line.ended,
    )


def _cell(value: str) -> str:
    held = value[:1] + _INSIDE.sub(r"\1'", value[1:])
    return f"'{held}" if held.startswith(_FORMULA) else held


def _file(text: str, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text.encode("utf-8", "replace"), media_type=kind, headers=headers)
