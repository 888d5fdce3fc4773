"""Write another text into a block scalar, with the lines and the ending that it had."""

from tocsin_gitops.yaml_nodes import EditRefused


def rewritten(token: str, new: str) -> str:
    """Return a literal block (`|`) that holds another text; all its lines are indented alike.

    EditRefused for a folded block, one that says its own indentation, and text that cannot be
    seen: the proof of the edit reads the result back.
    """
    head, _, body = token.partition("\n")
    lines = new.rstrip("\n").split("\n")
    kept = body.rstrip()
    indent = len(kept) - len(kept.lstrip(" "))
    if not token.startswith("|") or any(sign.isdigit() for sign in head) or not indent:
        raise EditRefused("a block scalar like this one is not rewritten")
    if not all(line.isprintable() and line == line.rstrip() for line in lines) or new[:1] in (
        "",
        " ",
    ):
        raise EditRefused(f"{new!r} holds what a block scalar cannot show")
    written = "\n".join(" " * indent + line if line else "" for line in lines)
    return f"{head}\n{written}{body[len(kept) :]}"
