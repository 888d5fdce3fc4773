"""An investigation by a model is recorded in a real store, and replayed with nobody to ask."""

import json
import re
from dataclasses import replace
from decimal import Decimal

import pytest
import yaml

from tocsin_agents.instructions.file import InstructionsFile
from tocsin_agents.limits.budgets import Limit, Limits
from tocsin_agents.limits.ledger import MemoryLedger
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.outputs import PAGE_CHARACTERS, READ_OUTPUT
from tocsin_agents.loop.state import TYPES
from tocsin_agents.models.port import ModelAwayError, ModelRefusedError, Usage
from tocsin_agents.models.prices import Price
from tocsin_cluster.clusters import NamedClusters
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import Amounts, BudgetExhausted, HypothesisFormed, RunState
from tocsin_kit import graphs, keys, store
from tocsin_kit.outputs import RedisOutputs
from tocsin_kit.recordings import Recordings, Transcripts
from tocsin_kit.redaction import Redactor
from tocsin_kit.spending import Spending
from tocsin_rca import replay
from tocsin_rca.evidence.comparison import summary
from tocsin_rca.investigation import telling
from tocsin_rca.recording import Recording
from tocsin_rca.settings import Settings
from tocsin_testing import build
from tocsin_testing.agents import FakeTool
from tocsin_testing.build import NOW, RUN
from tocsin_testing.fakes import FakeRuns
from tocsin_testing.investigating import WEB, FixedAnalyzer, Workplace, looks, submits, world
from tocsin_testing.scripted_model import ScriptedModel, asks, says
from tocsin_testing.tools import FixedToolset

pytestmark = pytest.mark.servers

ABOUT = build.workload(namespace="shop", name="web", kind="Deployment", cluster="")
ALERT = build.alert(workload=ABOUT)
OPENED = build.incident_opened(id="opened", alert=ALERT, at=NOW)
LOG = "\n".join(f"line {number}: password: swordfish{number}" for number in range(2000))


class Logs(FixedToolset):
    """One tool of an outside server, whose answer is long."""

    name = "logs"


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url, text=False)
    yield client
    await client.aclose()


@pytest.fixture
def place(redis, tmp_path, monkeypatch):
    """Everything that outlives a worker is in the store; no analyzer knows anything."""
    monkeypatch.setattr(replay, "load", lambda: (FixedAnalyzer(()),))
    opened = build.run(OPENED, state=RunState.INVESTIGATING)
    return Workplace(
        world=world(tmp_path),
        runs=FakeRuns(opened),
        saver=graphs.saver(redis, *TYPES),
        engine=Engine(outputs=RedisOutputs(redis, Redactor())),
        others=(Logs(FakeTool("logs.read", LOG)),),
        recordings=Recordings(redis, days=2),
        transcripts=Transcripts(redis, days=2),
    )


async def opened(place, *script):
    handlers, _ = place.worker(ScriptedModel(*script))
    return await handlers.on_incident_opened(OPENED)


async def replayed(redis, settings=None, **changes):
    recording = Recording.model_validate_json(await Recordings(redis, 2).of(RUN, 1))
    said = await Transcripts(redis, 2).of(RUN, 1) | changes
    return await replay.again(recording, RUN, settings or Settings(), said)


def reading():
    """Look at a log and at an object at the same time."""
    look = {"kind": "ConfigMap", "namespace": "shop", "name": "web"}
    return asks(("logs.read", {}), ("k8s.get", look), ("k8s.get", look))


async def test_without_model_and_tools_the_same_hypothesis_is_formed(place, redis):
    claims = [{"text": "It says so.", "evidence": ["m1", "m2", "e1"]}]
    told = await opened(place, reading(), looks("none"), submits(claims=claims))
    assert isinstance(told, HypothesisFormed)
    found = await replayed(redis)
    assert found.differences == ()
    assert found.then == found.now == summary(told)
    assert found.model_answers == 3
    assert "3 recorded answers of a model" in replay.plain(found)


async def test_a_changed_instruction_is_named_and_nothing_is_made_up(place, redis, monkeypatch):
    await opened(place, looks(), submits())
    monkeypatch.setattr(telling, "ROLE", f"{telling.ROLE}\nBe brief.")
    found = await replayed(redis)
    (said,) = found.differences
    assert said.startswith("the replay asked for something that was not recorded: question 1 to")
    assert "system text 3 ('You are asked because no analyzer is sure" in said
    assert said.endswith("is another")


async def test_where_analyzers_are_sure_now_no_model_is_asked_again(place, redis, monkeypatch):
    await opened(place, looks(), submits())
    sure = build.finding(object=WEB, confidence=0.95, evidence=("e1",), change=None)
    monkeypatch.setattr(replay, "load", lambda: (FixedAnalyzer((sure,)),))
    found = await replayed(redis)
    assert (
        "no model would be asked now: a finding of the analyzers is decisive" in found.differences
    )
    assert (found.now.cause, found.now.confidence) == (sure.cause, 0.95)


async def test_a_tool_that_is_asked_something_else_ends_the_replay(place, redis):
    await opened(place, looks(), submits())
    said = await Transcripts(redis, 2).of(RUN, 1)
    name = next(name for name in said if name.startswith("model:0001"))
    other = json.loads(said[name])
    other["answer"]["calls"][0]["arguments"] = '{"kind": "Pod", "name": "x"}'
    found = await replayed(redis, **{name: json.dumps(other).encode()})
    (why,) = found.differences
    assert "was not recorded: k8s.get {'kind': 'Pod', 'name': 'x'} after answer 1" in why


class ReadsOn(ScriptedModel):
    """Reads on in the output that it was shown only in part."""

    async def answer(self, question, on_text=None):
        found = re.search(r'read_output\(ref="(\w+)"\)', question.messages[-1].text)
        if found:
            page = asks((READ_OUTPUT, {"ref": found[1], "offset": PAGE_CHARACTERS}))
            self._script.insert(0, page)
        return await super().answer(question, on_text)


async def test_what_was_cut_is_read_on_in_the_replay_too(place, redis):
    model = ReadsOn(asks(("logs.read", {})), submits())
    handlers, _ = place.worker(model)
    told = await handlers.on_incident_opened(OPENED)
    assert isinstance(told, HypothesisFormed)
    assert "line 300" in model.questions[2].messages[-1].text
    found = await replayed(redis)
    assert (found.differences, found.model_answers) == ((), 3)


async def test_after_a_crash_one_transcript_holds_the_work_of_both_workers(place, redis):
    with pytest.raises(ModelAwayError):
        await opened(place, looks(), ModelAwayError("the worker dies"))
    told = await opened(place, submits())
    assert isinstance(told, HypothesisFormed)
    found = await replayed(redis)
    assert (found.differences, found.model_answers) == ((), 2)
    assert found.now == summary(told)


async def test_a_worker_that_takes_over_may_have_other_tools(place, redis):
    with pytest.raises(ModelAwayError):
        await opened(place, looks(), ModelAwayError("the worker dies"))
    told = await opened(replace(place, others=()), submits())
    found = await replayed(redis)
    assert (found.differences, found.model_answers) == ((), 2)
    assert found.now == summary(told)


async def test_a_pause_and_what_people_answered_is_replayed(place, redis):
    low = replace(place.engine, limits=Limits(run={"tokens": 18}, soft=0.8))
    here = replace(place, engine=low)
    handlers, _ = here.worker(ScriptedModel(looks()))
    pause = await handlers.on_incident_opened(OPENED)
    assert isinstance(pause, BudgetExhausted)
    assert (await replayed(redis)).differences == ()

    pause = pause.caused_by(OPENED.id, "rca")
    here.runs.runs[RUN] = build.run(OPENED, pause, state=RunState.INVESTIGATING)
    more = build.budget_extended(id="more", answers=pause.id, amounts=Amounts(tokens=1000))
    _, budgets = here.worker(ScriptedModel(submits()))
    told = await budgets.on_budget_extended(more)
    assert isinstance(told, HypothesisFormed)
    found = await replayed(redis)
    assert (found.differences, found.now) == ((), summary(told))


async def test_a_limit_of_the_day_that_others_used_up_ends_the_replay_too(place, redis):
    ledger = MemoryLedger()
    await ledger.count("another source", Spending(tokens=10))
    low = replace(place.engine, limits=Limits(day={"tokens": 20}), ledger=ledger)
    told = await opened(replace(place, engine=low), looks(), submits())
    assert "limited" in told.why
    found = await replayed(redis)
    assert (found.differences, found.now, found.model_answers) == ((), summary(told), 1)


async def test_a_model_that_refused_refuses_again(place, redis):
    told = await opened(place, looks(), ModelRefusedError("the key is wrong"))
    found = await replayed(redis)
    assert (found.differences, found.now) == ((), summary(told))
    assert "the key is wrong" in found.now.why


async def test_a_work_that_never_came_to_an_end_says_so(place, redis):
    with pytest.raises(ModelAwayError):
        await opened(place, looks(), ModelAwayError("busy"))
    found = await replayed(redis)
    assert found.differences == ("the investigation was not seen to its end then",)


async def test_no_secret_is_in_a_transcript_and_the_model_was_told_none(place, redis):
    model = ScriptedModel(reading(), submits(summary="The token: swordfish9999 is old."))
    handlers, _ = place.worker(model)
    await handlers.on_incident_opened(OPENED)
    said = b"".join((await Transcripts(redis, 2).of(RUN, 1)).values()).decode()
    assert "line 7" in said
    assert "swordfish" not in said
    assert "swordfish" not in "".join(one.text for one in model.questions[1].messages)


async def test_it_is_kept_as_long_as_the_recording(place, redis):
    await opened(place, looks(), submits())
    left = [await redis.pttl(one) for one in (keys.recording(RUN, 1), keys.transcript(RUN, 1))]
    assert abs(left[0] - left[1]) < 60_000


async def test_a_store_that_takes_no_transcript_fails_no_investigation(place):
    class Away:
        """Has no answer."""

        async def names(self, run_id, attempt):
            raise ModelAwayError("the store is away")

        async def add(self, run_id, attempt, name, entry):
            raise ModelAwayError("the store is away")

    told = await opened(replace(place, transcripts=Away()), looks(), submits())
    assert isinstance(told, HypothesisFormed)


async def test_who_cannot_read_what_was_written_before_writes_nothing_beside_it(place, redis):
    class Blind(Transcripts):
        async def names(self, run_id, attempt):
            raise ModelAwayError("the store is away")

    with pytest.raises(ModelAwayError):
        await opened(place, looks(), ModelAwayError("the worker dies"))
    before = await Transcripts(redis, 2).of(RUN, 1)
    told = await opened(replace(place, transcripts=Blind(redis, days=2)), submits())
    assert isinstance(told, HypothesisFormed)
    assert await Transcripts(redis, 2).of(RUN, 1) == before


async def test_a_silent_model_is_no_reason_to_ask_again(place, redis):
    told = await opened(place, says("Hm."), says("Hm."))
    found = await replayed(redis)
    assert (found.differences, found.now) == ((), summary(told))


async def test_instructions_of_the_operator_are_told_again_and_others_are_named(
    place, redis, tmp_path
):
    file = tmp_path / "global.md"
    file.write_text("Answer in German.")
    engine = replace(place.engine, instructions=InstructionsFile(file))
    await opened(replace(place, engine=engine), looks(), submits())
    chosen = Settings(instructions_file=file)
    assert (await replayed(redis, settings=chosen)).differences == ()
    file.write_text("Answer in French.")
    (said,) = (await replayed(redis, settings=chosen)).differences
    assert "system text 2 ('Answer in French" in said


async def test_with_several_clusters_what_each_answered_is_played_under_its_name(
    place, redis, tmp_path
):
    west, east = (config(tmp_path / name, name) for name in ("west", "east"))
    both = NamedClusters({"west": west, "east": east})
    two = replace(place, world=replace(place.world, clusters=both))
    about = {"kind": "ConfigMap", "namespace": "shop", "name": "web"}
    one = asks(("k8s.get", about | {"cluster": "east"}))
    claims = [{"text": "It is so in east.", "evidence": ["m1", "m2"]}]
    told = await opened(two, looks(), one, submits(object=about, change=None, claims=claims))
    excerpts = {one.id: one.excerpt for one in told.evidence}
    assert ("west" in excerpts["m1"], "east" in excerpts["m1"]) == (True, True)
    assert ("west" in excerpts["m2"], "east" in excerpts["m2"]) == (False, True)
    found = await replayed(redis)
    assert (found.differences, found.clusters, found.model_answers) == ((), ("west", "east"), 3)
    assert found.then == found.now == summary(told)
    assert "recorded of the clusters west, east" in replay.plain(found)


def config(folder, mode):
    folder.mkdir()
    meta = {"name": "web", "namespace": "shop", "labels": {"mode": mode}}
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
    (folder / "all.yaml").write_text(yaml.safe_dump(made))
    return SnapshotCluster(folder)


async def test_a_transcript_without_a_beginning_is_named_and_the_rest_is_replayed(place, redis):
    await opened(place, looks(), submits())
    recording = Recording.model_validate_json(await Recordings(redis, 2).of(RUN, 1))
    said = await Transcripts(redis, 2).of(RUN, 1)
    del said["begin"]
    found = await replay.again(recording, RUN, Settings(), said)
    assert found.differences == (
        "the model's part cannot be replayed: how the investigation began was not recorded",
    )


async def test_a_call_that_there_was_no_money_for_is_not_made_again_either(place, redis):
    dear = ScriptedModel(
        looks(usage=Usage(input_tokens=10, cost=Decimal("19.9"))),
        price=Price(input=Decimal(1000), output=Decimal(1000)),
    )
    limits = Limits(run=Limit(money=Decimal(20)), soft=None)
    handlers, _ = replace(place, engine=replace(place.engine, limits=limits)).worker(dear)
    told = await handlers.on_incident_opened(OPENED)
    assert "the next call costs" in told.why
    found = await replayed(redis)
    assert (found.differences, found.now) == ((), summary(told))
