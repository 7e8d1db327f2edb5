"""The same verbs for async hosts."""

from __future__ import annotations

import asyncio
import threading

import pytest

import sightline

TEN = "".join(f"line {n}\n" for n in range(1, 11))


def test_the_verbs_work(place, s):
    place.put("a.py", TEN)

    async def host():
        view = await s.aio.read("a.py")
        assert view.text == TEN
        result = await s.aio.edit("a.py", "line 3\n", "mine\n")
        assert result.path == "a.py"
        async with s.aio.writing("a.py", TEN):
            place.put("a.py", TEN)
        async with s.aio.ran("make") as run:
            run.exit_code = 0
        assert run.result.exit_code == 0
        with pytest.raises(sightline.EditRefused):
            await s.aio.edit("a.py", "nothing like it", "x")
        return [file.state for file in await s.aio.files()]

    assert asyncio.run(host()) == ["fresh"]


def test_many_verbs_at_once_run_one_after_the_other(place, s):
    place.put("a.py", TEN)

    async def host():
        await s.aio.read("a.py")
        edits = [s.aio.edit("a.py", f"line {n}\n", f"mine {n}\n") for n in range(1, 11)]
        await asyncio.gather(*edits)

    asyncio.run(host())
    assert place.text("a.py") == TEN.replace("line", "mine")
    assert s.check("a.py").state == "fresh"


def test_a_cancelled_edit_that_has_begun_is_finished_and_recorded(place, ten, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()
    workspace = ten._context.workspace
    replace_each = workspace.replace_each

    def slow(*args, **named):
        begun.set()
        go_on.wait(30)
        return replace_each(*args, **named)

    monkeypatch.setattr(workspace, "replace_each", slow)

    async def host():
        edit = asyncio.create_task(ten.aio.edit("a.py", "line 3\n", "mine\n"))
        await asyncio.to_thread(begun.wait, 30)
        edit.cancel()
        with pytest.raises(asyncio.CancelledError):
            await edit
        go_on.set()
        return await ten.aio.check("a.py")

    assert asyncio.run(host()).state == "fresh"
    assert place.text("a.py") == TEN.replace("line 3", "mine")
    assert ten._context.store.pending() == []


def test_the_verbs_of_a_conversation_work(s):
    async def host():
        talk = s.aio.conversation
        first = await talk.append({"role": "user", "content": "hi"})
        side = await talk.side("explore")
        await side.append({"role": "user", "content": "look"})
        assert await talk.sides() == {"explore": first}
        assert await side.messages() == [{"role": "user", "content": "look"}]
        return await talk.view(1_000)

    assert asyncio.run(host()) == s.conversation.messages()


def test_async_with_closes_the_session(place):
    async def host():
        async with place.session().aio as session:
            await session.read("a.py")
        return session

    place.put("a.py", "a\n")
    session = asyncio.run(host())
    with pytest.raises(sightline.StoreError):
        session._blocking.read("a.py")
