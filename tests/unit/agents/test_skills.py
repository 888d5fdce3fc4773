"""Skills: checked when read, told to the agents they are for, read again when they change."""

import pytest

from tocsin_agents.agent import Agent
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.running import Loop
from tocsin_agents.skills.folder import MOST_BYTES, SkillFolder
from tocsin_agents.skills.skill import SkillError, parsed
from tocsin_testing.agents import invocation, work
from tocsin_testing.scripted_model import ScriptedModel

OOM = """\
---
name: oom
description: How to read an OOM kill.
agents: [investigator]
---
Compare the limit with the working set.

---
Not a fence any more.
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "oom.md").write_text(OOM)
    return tmp_path


async def told(skills, agent="investigator"):
    return [skill.name for skill in await skills.of(agent)]


def test_a_skill_is_its_front_matter_and_its_text():
    skill = parsed("oom.md", OOM.replace("\n", "\r\n").encode())
    assert (skill.name, skill.agents) == ("oom", ("investigator",))
    assert skill.text.startswith("Compare the limit")
    assert skill.text.endswith("Not a fence any more.")
    assert skill.segment.name == "skill:oom"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (("name: oom", "name: Oh no"), "name"),
        (("name: oom\n", ""), "name"),
        (("description: How to read an OOM kill.", "description: 7"), "description"),
        (("agents: [investigator]", "agents: investigator"), "agents"),
        (("agents: [investigator]", "agents: [1]"), r"agents\.0"),
        (("agents: [investigator]", "agents: []"), "agents"),
        (("name: oom", "name: oom\nmodel: big"), "model"),
        (("name: oom", "name: ["), "front matter"),
        (("---\nname", "name"), "front matter"),
    ],
)
def test_what_is_wrong_with_a_skill_is_named_by_file_and_field(change, field):
    with pytest.raises(SkillError, match=rf"skill file 'oom\.md': {field}: "):
        parsed("oom.md", OOM.replace(*change, 1).encode())


@pytest.mark.parametrize("content", [b"", b"---\n", b"---\nname: x\n---\n", b"\xff\xfe---"])
def test_a_file_that_is_no_skill_is_refused(content):
    with pytest.raises(SkillError, match=r"skill file 'x\.md'"):
        parsed("x.md", content)


async def test_a_skill_is_told_to_its_agents_only(folder):
    (folder / "zzz.md").write_text(
        OOM.replace("name: oom", "name: all").replace("[investigator]", '["*"]')
    )
    skills = SkillFolder(folder)
    assert await told(skills) == ["all", "oom"]
    assert await told(skills, "chat") == ["all"]


async def test_a_changed_file_is_read_again_and_a_removed_one_is_forgotten(folder):
    skills = SkillFolder(folder)
    (first,) = await skills.of("investigator")
    (folder / "oom.md").write_text(OOM.replace("Compare", "First compare"))
    (second,) = await skills.of("investigator")
    assert second.text.startswith("First compare")
    assert first.sha256 != second.sha256
    (folder / "oom.md").unlink()
    assert await told(skills) == []


async def test_a_file_that_is_broken_later_changes_nothing_until_it_is_right_again(folder):
    skills = SkillFolder(folder)
    (folder / "oom.md").write_text("half a fi")
    assert await told(skills) == ["oom"]
    (folder / "oom.md").write_text(OOM.replace("name: oom", "name: kill"))
    assert await told(skills) == ["kill"]


def test_a_folder_with_a_broken_file_is_an_error_at_the_start(folder):
    (folder / "more.md").write_text("no front matter")
    with pytest.raises(SkillError, match=r"more\.md"):
        SkillFolder(folder)


async def test_a_folder_that_is_not_there_is_an_error_and_one_that_goes_away_changes_nothing(
    folder,
):
    with pytest.raises(SkillError, match="there is no folder"):
        SkillFolder(folder / "nowhere")
    skills = SkillFolder(folder)
    folder.rename(folder.with_name("elsewhere"))
    assert await told(skills) == ["oom"]


def test_two_skills_of_one_name_are_an_error(folder):
    (folder / "more.md").write_text(OOM)
    with pytest.raises(SkillError, match=r"'oom\.md': name: 'more\.md' has it already"):
        SkillFolder(folder)


def test_a_skill_is_short(folder):
    (folder / "oom.md").write_text(OOM + "x" * MOST_BYTES)
    with pytest.raises(SkillError, match="longer than"):
        SkillFolder(folder)


async def test_a_skill_comes_after_the_policy_and_before_the_agents_own_words(folder):
    model = ScriptedModel("Memory.")
    agent = Agent(name="investigator", description="Finds.", model=model, instructions="Look.")
    loop = Loop(agent, Engine(skills=SkillFolder(folder)))
    found = await loop.run(work(), invocation())
    names = [segment.name for segment in found.prompts["investigator"]]
    assert names == ["security", "skill:oom", "role", "instructions"]
    assert "Compare the limit" in model.questions[0].messages[1].text
