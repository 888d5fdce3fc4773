set positional-arguments

export PATH := justfile_directory() / ".venv/bin:" + env("PATH")
export VIRTUAL_ENV := justfile_directory() / ".venv"

[private]
default:
    @just --list --unsorted

[doc("See the pipeline at work: a real nats-server, one sample alert, a scripted model; no keys")]
[group("start")]
demo:
    @python scripts/demo.py

[doc("Run one service: just run rca")]
[group("start")]
run service:
    tocsin-{{service}}

[doc("Format and fix what can be fixed")]
[group("work")]
fmt:
    ruff format
    ruff check --fix

[doc("Lint, types, import rules")]
[group("work")]
lint:
    ruff format --check
    ruff check
    mypy
    lint-imports

[doc("Fast tests; extra arguments go to pytest")]
[group("work")]
test *args:
    @pytest -q "$@"

[doc("What CI runs")]
[group("work")]
check: lock-check lint test

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
        uv pip compile "$@" --constraint "$folder/dev.lock" "$service/pyproject.toml" \
            --output-file "$folder/${service#*/}.lock"
    done

[doc("Build the image of one service: just image rca")]
[group("ship")]
image service:
    docker build -f deploy/Dockerfile --build-arg SERVICE={{service}} -t tocsin-{{service}} .
