"""Programs that most images have, and which of them a word that is none was meant to be."""

import re

_MEANT = frozenset(
    re.findall(
        r"\S+",
        """
        awk bash basename busybox caddy cat celery consul cp curl cut date dirname
        dotnet echo env envoy export find flask grafana-server grep gunicorn gzip
        haproxy head hostname httpd java kubectl memcached mkdir mktemp mongod mysql
        mysqld mysqldump nginx node npm openssl perl pg_isready php-fpm postgres printf
        prometheus psql python python3 rabbitmq-server redis-cli redis-server ruby sed
        sleep sort supervisord tail tar tee timeout tini touch traefik true uniq unzip
        uvicorn wget xargs yarn
        """,
    )
)
_OTHERS = frozenset(
    re.findall(
        r"\S+",
        """
        ash bun bunzip2 cal chmod chown cmp code comm cron crond dash date2 diff dig du
        egrep exec expr false fgrep file flock fmt fold gawk gcat git go gsed gtar
        gunzip host id kill less link ln log ls make mawk mongo mongos mongosh more
        mount mv nawk nc ncat netcat nodejs nodes nohup nproc nslookup npx passwd paste
        php ping pip pnpm read rm rmdir rsync scp seq set sh shuf sntp split ssh stat
        strings su sudo sync tac test time top tr tree tsort uname unlink unset vi vim
        wait watch wc which while who yes zcat zgrep zsh
        """,
    )
)
"""Words that are names of programs themselves, and so no slip of another."""

_SHORTEST = 3
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]{2,20}")
_BEGINS = re.compile(r"(?:^|[;&|(]|\b(?:then|do|else|exec)\b)\s{0,4}$")


def meant(word: str) -> str | None:
    """Return the one program of which a word is a slip: a letter, two that changed places, or case.

    None if the word is a program itself, or if it may mean several or none.
    """
    if word in _MEANT | _OTHERS or len(word) < _SHORTEST or not _WORD.fullmatch(word):
        return None
    near = {one for one in _MEANT | _OTHERS if _is_slip(word, one)}
    return next(iter(near)) if len(near) == 1 and near <= _MEANT else None


def respelt(text: str, word: str) -> str | None:
    """Return a command line in which a misspelt program is put right; None if that is a guess.

    The word stands there once, and where a command begins.
    """
    right, places = (
        meant(word),
        list(re.finditer(rf"(?<![\w./-]){re.escape(word)}(?![\w./-])", text)),
    )
    if right is None or len(places) != 1 or not _BEGINS.search(text[: places[0].start()]):
        return None
    return text[: places[0].start()] + right + text[places[0].end() :]


def is_respelt(old: str, new: str) -> bool:
    """Whether the new text is the old one with nothing but a misspelt program put right."""
    return any(respelt(old, word) == new for word in set(_WORD.findall(old)))


def _is_slip(word: str, known: str) -> bool:
    if word.lower() == known:
        return True
    if len(word) == len(known):
        wrong = [at for at, (a, b) in enumerate(zip(word, known, strict=True)) if a != b]
        if len(wrong) == 1:
            return True
        swapped = len(wrong) > 1 and wrong == [wrong[0], wrong[0] + 1]
        return swapped and word[wrong[0]] == known[wrong[1]] and word[wrong[1]] == known[wrong[0]]
    shorter, longer = sorted((word, known), key=len)
    return len(longer) - len(shorter) == 1 and any(
        longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer))
    )
