"""A small MCP server over stdio that does what servers should not: for tests, run as a program.

    python mcp_server.py FOLDER

It leaves in FOLDER what it was told, and reads there what it should be like.
"""

import json
import os
import signal
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1])
PAGE = 3


def described(name):
    look = (FOLDER / "description").read_text() if (FOLDER / "description").exists() else "Does it."
    wrong = name == "big" and (FOLDER / "wrong").exists()
    return {
        "name": name,
        "description": look,
        "inputSchema": {"type": "string"} if wrong else {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True},
    }


def page(cursor):
    start = int(cursor or 0)
    tools = [described(name) for name in TOOLS[start : start + PAGE]]
    more = {"nextCursor": str(start + PAGE)} if start + PAGE < len(TOOLS) else {}
    return {"tools": tools, **more}


def die(request):
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(request):
    if not (FOLDER / "died").exists():
        (FOLDER / "died").touch()
        die(request)
    return "alive"


def talk(request):
    for number in range(5000):
        sys.stderr.write(f"line {number} password=hunter2222\n")
    return "said"


def slowly(request):
    token = request["params"]["_meta"]["progressToken"]
    step = {"progressToken": token, "progress": 1, "total": 2, "message": "half way"}
    send({"method": "notifications/progress", "params": step})
    return "done"


USED = {
    "pid": lambda request: str(os.getpid()),
    "environment": lambda request: json.dumps(dict(os.environ)),
    "die": die,
    "die_once": die_once,
    "hang": None,
    "big": lambda request: "x" * 5_000_000,
    "fail": lambda request: "it broke",
    "talk": talk,
    "slowly": slowly,
}
TOOLS = tuple(USED)


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answered(request):
    match request["method"]:
        case "initialize":
            asked = request["params"]["protocolVersion"]
            info = {"name": "odd", "version": "1"}
            return {"protocolVersion": asked, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return page(request.get("params", {}).get("cursor"))
        case "tools/call":
            tool = request["params"]["name"]
            said = {"type": "text", "text": USED[tool](request)}
            return {"content": [said], "isError": tool == "fail"}
        case "ping":
            return {}
    return None


def main():
    if (FOLDER / "deaf").exists():
        sys.stdout.write("this is no protocol\n")
        sys.stdout.flush()
        signal.pause()
    for line in sys.stdin:
        message = json.loads(line)
        if message["method"] == "notifications/cancelled":
            (FOLDER / "cancelled").touch()
        if "id" not in message or message.get("params", {}).get("name") == "hang":
            continue
        result = answered(message)
        unknown = {"error": {"code": -32601, "message": "unknown method"}}
        send({"id": message["id"], **(unknown if result is None else {"result": result})})


if __name__ == "__main__":
    main()
