import os
from _thread import allocate_lock, get_ident

import pytest

from sightline.filesystem.deadline import DeadlinePassed, within, within_own


def test_a_thread_that_answered_is_asked_again():
    assert within(60, get_ident) == within(60, get_ident) != get_ident()


def test_what_the_work_raises_is_raised_here():
    with pytest.raises(FileNotFoundError):
        within(60, lambda: os.stat("/nowhere/at/all"))


def test_a_thread_that_does_not_answer_is_left_behind_and_others_are_asked():
    held = allocate_lock()
    held.acquire()
    with pytest.raises(DeadlinePassed):
        within(0.01, held.acquire)
    assert within(60, lambda: "answered") == "answered"
    held.release()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_asks_threads_of_its_own():
    within(60, get_ident)
    child = os.fork()
    if child == 0:
        os._exit(within(60, lambda: 7))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_question_within_a_question_is_asked_by_the_same_thread():
    assert within(60, lambda: (get_ident(), within(60, get_ident))) == (within(60, get_ident),) * 2


def test_a_part_of_a_question_may_have_a_deadline_of_its_own():
    held = allocate_lock()
    held.acquire()

    def part():
        with pytest.raises(DeadlinePassed):
            within_own(0.01, held.acquire)
        return get_ident(), within_own(60, get_ident)

    asked, answered = within(60, part)
    assert asked != answered
    held.release()
