"""A message with a key on a real store: however often it comes, it is one run."""

import pytest

from tocsin_ingest import admission
from tocsin_ingest.receiver import Receiver
from tocsin_kit import intake, store
from tocsin_kit.outbox import Outbox
from tocsin_kit.runs import RunStore
from tocsin_testing.fakes import FakePublisher
from tocsin_testing.readings import alerts_of

pytestmark = pytest.mark.servers

SOMEWHERE = {"namespace": "shop", "deployment": "cart"}


@pytest.fixture
async def receiver(redis_url):
    client = store.connect(redis_url)
    outbox = Outbox(client, "ingest", intake.read, FakePublisher().publish)
    yield Receiver(intake.Intake(client, outbox), RunStore(client))
    await client.aclose()


def said(key, labels):
    payload = {"message": "checkout is slow", "labels": labels}
    (alert,) = alerts_of("chat", payload, headers={"idempotency-key": key})
    return alert


@pytest.mark.parametrize("labels", [{}, SOMEWHERE], ids=["nowhere", "about a workload"])
async def test_the_same_key_is_the_same_run_even_after_its_end(receiver, labels):
    alert = said("k1", labels)
    first, again = await receiver.take_all([alert]) + await receiver.take_all([alert])
    assert (first.outcome, again.outcome) == ("opened", "attached")
    assert first.run_id == again.run_id

    await receiver.close(admission.incident_key(alert), first.run_id)
    (late,) = await receiver.take_all([alert])
    assert late.run_id == first.run_id
    (other,) = await receiver.take_all([said("k2", labels)])
    assert other.outcome == "opened"
    assert other.run_id != first.run_id


async def test_a_message_about_a_workload_joins_the_run_that_it_has(receiver):
    one, other = await receiver.take_all([said("k1", SOMEWHERE), said("k2", SOMEWHERE)])
    assert one.run_id == other.run_id
