"""Lists for other programs: JSON, and a table that no spreadsheet runs as a formula."""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence

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
AUDITED = (
    "number",
    "at",
    "by",
    "deed",
    "text",
    "run_id",
    "plan_hash",
    "surface",
    "reason",
    "break_glass",
)
_INSIDE = re.compile(r"([;\t]\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
"""Where another cell may begin for programs that take lists to be separated so."""

_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r", "\n")


def as_json(runs: Sequence[Listed]) -> Response:
    """Return the lines as the API tells them, with where each alert came from."""
    told = [one.line.model_dump(mode="json") | {"source": one.source} for one in runs]
    return json_file("runs", told, "runs.json")


def as_csv(runs: Sequence[Listed]) -> Response:
    """Return the lines with where and what each run is about."""
    rows = [dict(zip(COLUMNS, _row(one), strict=True)) for one in runs]
    return csv_file(COLUMNS, rows, "runs.csv")


def json_file(key: str, rows: Sequence[Mapping[str, object]], name: str) -> Response:
    """Return rows under a key, as a file of this name."""
    return _file(json.dumps({key: rows}), "application/json", name)


def csv_file(columns: Sequence[str], rows: Sequence[Mapping[str, object]], name: str) -> Response:
    """Return a table with a heading; what would be a formula begins with an apostrophe."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(columns)
    table.writerows([_cell(str(row[column])) for column in columns] for row in rows)
    return _file(text.getvalue(), "text/csv; charset=utf-8", name)


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
