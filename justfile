set positional-arguments

export PATH := justfile_directory() / ".venv/bin:" + env("PATH")
export VIRTUAL_ENV := justfile_directory() / ".venv"

[private]
default:
    @just --list --unsorted

[doc("Make .venv; every recipe does this first, so there is rarely a need to call it")]
[group("start")]
setup:
    @echo "ready: .venv holds everything in requirements/dev.lock"

[doc("Watch an alert become a pull request: real servers, a recorded incident, no keys (--yes to approve unasked)")]
[group("start")]
demo *args:
    @exec tocsin demo "$@"

[doc("Start bus, store and every service on this machine; Ctrl-C stops them")]
[group("start")]
up *args:
    @exec tocsin up "$@"

[doc("Run one service against TOCSIN_NATS_URL and TOCSIN_REDIS_URL: just run rca")]
[group("start")]
run service *args:
    @"tocsin-$@"

[doc("Every test, three files at a time, as they mostly wait; extra arguments go to pytest")]
[group("work")]
test *args:
    @PYTHONDONTWRITEBYTECODE= pytest -q -n 3 --dist loadfile "$@"

[doc("The tests that need little more than a minute: no server and none of our processes is started")]
[group("work")]
test-fast *args:
    @PYTHONDONTWRITEBYTECODE= pytest -q -m "not e2e and not servers and not browser" "$@"

[doc("Format and fix what can be fixed")]
[group("work")]
fmt:
    ruff format
    ruff check --fix

[doc("Format, lint, types, import rules, declared dependencies, generated files")]
[group("work")]
lint:
    ruff format --check
    ruff check
    mypy
    lint-imports
    just deps
    just docs --check

[doc("What CI runs")]
[group("work")]
check: lock-check lint test

[doc("Write the generated files anew: event schemas and docs/events.md, docs/settings.md, docs/analyzers.md")]
[group("work")]
docs *args:
    @python scripts/docs.py "$@"

[doc("Measure one part as ratios to a yardstick: just bench checkpoints")]
[group("work")]
bench name *args:
    #!/bin/sh
    set -eu
    name=$1 && shift
    PYTHONDONTWRITEBYTECODE= python "bench/$name.py" "$@"

[doc("Play histories of faults on real processes and judge them: just chaos --seeds 20, just chaos --seed 7")]
[group("work")]
chaos *args:
    @PYTHONDONTWRITEBYTECODE= python bench/chaos.py "$@"

[private]
deps:
    #!/bin/sh
    set -eu
    for member in libs/* services/*; do
        found=$(cd "$member" && deptry --no-ansi src 2>&1) || { printf '%s:\n%s\n' "$member" "$found" >&2; exit 1; }
    done

[doc("Pin what the pyproject files ask for; known pins stay: just lock -P httpx, just lock --upgrade")]
[group("ship")]
lock *args:
    @just pin requirements --exclude-newer P7D "$@"

[doc("Fail if `just lock` would change something, or a lock names a host")]
[group("ship")]
lock-check:
    #!/bin/sh
    set -eu
    fresh=$(mktemp -d) && trap 'rm -r "$fresh"' EXIT
    cp requirements/* "$fresh"
    just pin "$fresh"
    diff -r requirements "$fresh" >&2 || { echo "the locks are out of date: ./just lock" >&2; exit 1; }
    ! grep -n '://' requirements/*.lock

[private]
pin folder *args:
    #!/bin/sh
    set -eu
    folder=$1 && shift
    for member in libs/* services/*; do set -- "$@" --no-emit-package "tocsin-${member#*/}"; done
    set -- --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet "$@"
    uv pip compile "$@" requirements/bootstrap.in --output-file "$folder/bootstrap.lock"
    uv pip compile "$@" requirements/dev.in */*/pyproject.toml --output-file "$folder/dev.lock"
    for service in services/*; do
        uv pip compile "$@" --all-extras --constraint "$folder/dev.lock" "$service/pyproject.toml" \
            --output-file "$folder/${service#*/}.lock"
    done

[doc("Build the image of one service: just image rca")]
[group("ship")]
image service:
    docker build -f deploy/Dockerfile --build-arg SERVICE={{service}} -t tocsin-{{service}} .
