"""Every Redis key name, in one place; the keys of a run share its hash tag, so one slot."""

import hashlib
from contextvars import ContextVar
from datetime import date

PREFIX = "tocsin"
"""Before every key, where a deployment names no prefix of its own."""

_prefix: ContextVar[str] = ContextVar("prefix", default=PREFIX)


def use_prefix(prefix: str) -> None:
    """Put this before every key, from now on in this context and in those that it begins.

    A process belongs to one deployment, and sets it once; deployments can so share a store.
    """
    _prefix.set(prefix)


def prefix() -> str:
    """Return what every key of this deployment begins with, without the colon after it."""
    return _prefix.get()


def _named(rest: str) -> str:
    return f"{_prefix.get()}:{rest}"


def runs() -> str:
    """Sorted set of run ids by creation time in milliseconds."""
    return _named("runs")


def checkpoints(run_id: str, rest: str) -> str:
    """What the names of the hashes of one thread begin with; threads of a run share its slot."""
    return _named(f"ck:{{{run_id}}}{rest}")


def run(run_id: str) -> str:
    """The record of a run: state, version, facts, attempts and stored outgoing events."""
    return _named(f"run:{{{run_id}}}")


def lease(run_id: str, service: str) -> str:
    """Who works on a run for a service; the value is the token, the key expires with the lease."""
    return _named(f"lease:{{{run_id}}}:{service}")


def approval(run_id: str, plan_hash: str) -> str:
    """One approval: a run has one for each plan that was put to people."""
    return _named(f"approval:{{{run_id}}}:{plan_hash[:12]}")


def incident(incident_key: str) -> str:
    """The receiver's record of one incident; its key is made of labels, so it is hashed."""
    return _named(f"incident:{{{hashlib.sha256(incident_key.encode()).hexdigest()[:32]}}}")


def incident_alerts(incident: str) -> str:
    """Sorted set of the alerts of one incident by their last delivery, beside its record."""
    return f"{incident}:alerts"


def place(fingerprint: str) -> str:
    """The incident in which an alert began that its sender names."""
    return _named(f"place:{fingerprint}")


def notice(run_id: str) -> str:
    """What the notifier last told about a run."""
    return _named(f"notice:{{{run_id}}}")


def card(subject: str) -> str:
    """Where the message about a subject, such as an incident, stands in a chat."""
    return _named(f"card:{{{hashlib.sha256(subject.encode()).hexdigest()[:32]}}}")


def card_lock(subject: str) -> str:
    """Who is changing that message now; the key expires with the right to."""
    return f"{card(subject)}:lock"


def card_at(channel: str, ts: str) -> str:
    """The run that the message at a place of a chat shows."""
    return _named(f"card-at:{hashlib.sha256(f'{channel} {ts}'.encode()).hexdigest()[:32]}")


def pull(place: str) -> str:
    """The run that opened a pull request; the place is its address, or its branch."""
    return _named(f"pull:{hashlib.sha256(place.encode()).hexdigest()[:32]}")


def issue(issue_key: str) -> str:
    """What was written to forges about one issue; its key is made of names, so it is hashed."""
    return _named(f"issue:{hashlib.sha256(issue_key.encode()).hexdigest()[:32]}")


def claim(thing: str) -> str:
    """Which run looks after a thing, such as an issue or a field of a file."""
    return _named(f"claim:{hashlib.sha256(thing.encode()).hexdigest()[:32]}")


def about(thing: str) -> str:
    """Sorted set of the newest runs about a thing, such as an incident or a workload."""
    return _named(f"about:{hashlib.sha256(thing.encode()).hexdigest()[:32]}")


def outbox(owner: str) -> str:
    """Sorted set of records that may hold events which are not acknowledged yet."""
    return _named(f"outbox:{owner}")


def late_news(run_id: str) -> str:
    """The alerts that joined a run after it was opened, by their fingerprints."""
    return _named(f"news:{{{run_id}}}")


def answered(run_id: str) -> str:
    """Sorted set of the comments on a run's pull request that were answered, by when."""
    return _named(f"answered:{{{run_id}}}")


def recording(run_id: str, attempt: int) -> str:
    """What was seen in one attempt at a run, packed."""
    return _named(f"recording:{{{run_id}}}:{attempt}")


def transcript(run_id: str, attempt: int) -> str:
    """What was said in one attempt at a run: an entry of a model or of a tool in each field."""
    return _named(f"transcript:{{{run_id}}}:{attempt}")


def outputs(scope: str) -> str:
    """The full outputs of the tools of a scope, such as a run, by their refs."""
    return _named(f"outputs:{{{scope}}}")


def joined(run_id: str) -> str:
    """The runs that were superseded by a run, and the keys of their incidents."""
    return _named(f"joined:{{{run_id}}}")


def triage(part: str) -> str:
    """What triage knows of all runs together, in parts that share a slot."""
    return _named(f"{part}:{{triage}}")


def audit_chain() -> str:
    """Stream of the audit's entries by their numbers; nothing but appending is ever done to it."""
    return _named("chain:{audit}")


def audit_facts() -> str:
    """The numbers of the audit's entries by the ids of their facts."""
    return _named("facts:{audit}")


def outcome(run_id: str) -> str:
    """What became of a run, and what people said of it; it outlives the run's record."""
    return _named(f"outcome:{{{run_id}}}")


def outcomes() -> str:
    """Sorted set of the runs with an outcome, by when they began."""
    return _named("outcomes")


def live_settings() -> str:
    """The settings that were changed while services run."""
    return _named("live-settings")


def explained() -> str:
    """With which settings each service was started."""
    return _named("settings")


def tool_calls() -> str:
    """List of the newest direct calls of tools."""
    return _named("tool-calls")


def heartbeats() -> str:
    """Sorted set of the processes that told how they are, by when they did last."""
    return _named("heartbeats")


def heartbeat(instance: str) -> str:
    """What one process told of itself last; the key expires some time after its silence."""
    return _named(f"heartbeat:{instance}")


def spent(day: date, source: str | None = None) -> str:
    """What a source of alerts, or everybody, spent on a day; a day's accounts share a slot."""
    owner = "all" if source is None else hashlib.sha256(source.encode()).hexdigest()[:32]
    return _named(f"spent:{{{day.isoformat()}}}:{owner}")


def chat(session: str) -> str:
    """Whose a session of a chat is, its turn, and the number of its newest frame."""
    return _named(f"chat:{{{session}}}")


def chat_frames(session: str) -> str:
    """Sorted set of the newest frames of a session by their numbers."""
    return f"{chat(session)}:frames"


def chat_history(session: str) -> str:
    """List of the newest turns of a session."""
    return f"{chat(session)}:history"


def chat_files(session: str) -> str:
    """The files that were handed over in a session, by their ids."""
    return f"{chat(session)}:files"
