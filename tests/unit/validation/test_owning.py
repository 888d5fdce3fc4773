"""The owners of a plan's files come with it, as its base names them."""

from tocsin_contracts.owners import CodeOwners, FileOwners
from tocsin_testing import build
from tocsin_validation.owning import Owning

APPS = "/apps/ @shop/apps\n"


async def owners(world, wanted=CodeOwners.SHOW):
    (drafted,) = await world.fire("r1")
    plan = drafted.plan.model_copy(update={"owners": ()})
    owning = Owning(world.gitops, world.repositories, wanted)
    (told,) = await owning.named([drafted.model_copy(update={"plan": plan})])
    return told.plan.owners


def commit(world, **files):
    named = {place.replace("__", "/"): text for place, text in files.items()}
    world.repositories.commit(world.repo, {world.file: world.manifest} | named)


async def test_they_are_those_of_the_files_that_the_plan_touches(world):
    commit(world, CODEOWNERS=APPS)
    assert await owners(world) == (FileOwners(path=world.file, owners=("@shop/apps",)),)


async def test_the_first_place_that_has_the_file_counts(world):
    files = {".github/CODEOWNERS": "* @ana\n", "CODEOWNERS": APPS}
    world.repositories.commit(world.repo, {world.file: world.manifest} | files)
    assert (await owners(world))[0].owners == ("@ana",)


async def test_without_such_a_file_nobody_owns_anything(world):
    assert await owners(world) == ()


async def test_where_they_are_not_asked_for_the_file_is_not_read(world):
    commit(world, CODEOWNERS=APPS)
    assert await owners(world, CodeOwners.OFF) == ()


async def test_what_the_base_says_later_changes_no_plan(world):
    commit(world, CODEOWNERS=APPS)
    (drafted,) = await world.fire("r1")
    commit(world, CODEOWNERS="* @mallory\n")
    owning = Owning(world.gitops, world.repositories, CodeOwners.SHOW)
    (told,) = await owning.named([drafted])
    assert told.plan.owners[0].owners == ("@shop/apps",)


async def test_owners_change_no_hash_and_other_events_pass(world):
    commit(world, CODEOWNERS=APPS)
    (drafted,) = await world.fire("r1")
    finished = build.run_finished()
    told = await Owning(world.gitops, world.repositories, CodeOwners.SHOW).named(
        [drafted, finished]
    )
    assert told[0].plan.plan_hash == drafted.plan.plan_hash
    assert told[1] == finished


async def test_the_handlers_name_them_in_every_plan(world):
    commit(world, CODEOWNERS=APPS)
    (drafted,) = await world.fire("r1")
    assert drafted.plan.owners[0].owners == ("@shop/apps",)
