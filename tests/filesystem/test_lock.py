import os
import stat
import threading

import pytest

from sightline.errors import Unverifiable
from sightline.filesystem.lock import STRIPES, Locked


def test_lock_files_are_private_and_few(tmp_path):
    folder = str(tmp_path / "state/locks")
    for number in range(200):
        with Locked(folder, [f"file{number}"], 1):
            pass
    assert len(os.listdir(folder)) <= STRIPES
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    modes = {stat.S_IMODE(os.stat(f"{folder}/{name}").st_mode) for name in os.listdir(folder)}
    assert modes == {0o600}


def test_a_second_lock_in_one_thread_is_an_error_and_not_a_deadlock(tmp_path):
    folder = str(tmp_path)
    with Locked(folder, ["a"], 1), pytest.raises(RuntimeError), Locked(folder, ["b"], 1):
        pass
    with Locked(folder, ["a", "b", "a"], 1):
        pass


def test_another_thread_has_to_wait(tmp_path):
    answers = []

    def other():
        try:
            with Locked(str(tmp_path), ["a"], 0):
                answers.append("locked")
        except Unverifiable as refused:
            answers.append(refused.hint)

    with Locked(str(tmp_path), ["a"], 1):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert answers
    assert answers != ["locked"]


def test_another_process_has_to_wait_until_the_first_is_killed(tmp_path):
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        with Locked(str(tmp_path), ["a"], 1):
            os.write(tell, b"!")
            threading.Event().wait()
    os.read(told, 1)
    with pytest.raises(Unverifiable), Locked(str(tmp_path), ["a"], 0):
        pass
    os.kill(child, 9)
    os.waitpid(child, 0)
    with Locked(str(tmp_path), ["a"], 0):
        pass
    os.close(told)
    os.close(tell)


def test_a_child_forked_meanwhile_does_not_keep_the_lock(tmp_path):
    stop, tell = os.pipe()
    with Locked(str(tmp_path), ["a"], 1):
        child = os.fork()
        if child == 0:  # lives on with a copy of every descriptor
            os.close(tell)
            os.read(stop, 1)
            os._exit(0)
    with Locked(str(tmp_path), ["a"], 0):
        pass
    os.close(tell)
    os.waitpid(child, 0)
    os.close(stop)


def test_many_threads_that_lock_several_paths_do_not_wait_for_each_other_for_ever(tmp_path):
    paths = [f"file{number}" for number in range(6)]
    count = [0]

    def work(offset):
        for _ in range(20):
            with Locked(str(tmp_path), paths[offset:] + paths[:offset], 60):
                count[0] += 1

    threads = [threading.Thread(target=work, args=(offset,)) for offset in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count == [60]


def test_a_name_that_no_encoding_has_can_be_locked(tmp_path):
    with Locked(str(tmp_path), ["caf\udce9", "\ud800"], 1):
        assert len(list(tmp_path.iterdir())) == 2
