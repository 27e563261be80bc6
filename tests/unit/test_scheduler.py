"""The order in which runs start, and what keeps them waiting. Nothing here sleeps: events say when to go on."""

from __future__ import annotations

import concurrent.futures
import contextlib
import gc
import random
import threading
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jailpy import InfrastructureError, Overloaded
from jailpy.scheduler import DeadlinePassed, Scheduler

#: For what is not to happen late, but might for ever where something is broken.
SOON = 20.0


class Gate:
    """A call that says when it has begun and ends when it may."""

    def __init__(self, value: object = None) -> None:
        self.value = value
        self.begun = threading.Event()
        self.open = threading.Event()

    def __call__(self) -> object:
        self.begun.set()
        assert self.open.wait(SOON)
        return self.value


@contextlib.contextmanager
def opened(workers: int = 1, memory: int = 1000, queue: int = 100_000) -> Iterator[Scheduler]:
    scheduler = Scheduler(workers, memory, queue)
    try:
        yield scheduler
    finally:
        scheduler.close()


@contextlib.contextmanager
def busy(scheduler: Scheduler, memory: int = 0) -> Iterator[None]:
    """All workers are at work, so that what is submitted waits."""
    gates = [Gate() for _ in range(scheduler.workers)]
    for gate in gates:
        scheduler.submit(gate, memory=memory)
    for gate in gates:
        assert gate.begun.wait(SOON)
    try:
        yield
    finally:
        for gate in gates:
            gate.open.set()


def until(condition: Callable[[], bool]) -> None:
    """For states that announce themselves to nobody."""
    deadline = time.monotonic() + SOON
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.001)


def results(futures: list[concurrent.futures.Future[object]]) -> list[object]:
    return [future.result(SOON) for future in futures]


class TestOrder:
    def test_first_come_first_served(self) -> None:
        order: list[int] = []
        with opened() as scheduler:
            with busy(scheduler):
                futures = [scheduler.submit(lambda n=n: order.append(n)) for n in range(50)]
            results(futures)
        assert order == list(range(50))

    def test_higher_priority_goes_first(self) -> None:
        order: list[int] = []
        priorities = [0, 5, -3, 5, 10, 0, -3]
        with opened() as scheduler:
            with busy(scheduler):
                futures = [
                    scheduler.submit(lambda n=n: order.append(n), priority=priority)
                    for n, priority in enumerate(priorities)
                ]
            results(futures)
        assert [priorities[n] for n in order] == sorted(priorities, reverse=True)
        assert order == sorted(range(len(priorities)), key=lambda n: (-priorities[n], n))

    def test_a_later_higher_priority_overtakes(self) -> None:
        order: list[str] = []
        first = Gate()
        with opened() as scheduler:
            with busy(scheduler):
                running = scheduler.submit(first)
                low = scheduler.submit(lambda: order.append("low"))
            assert first.begun.wait(SOON)
            high = scheduler.submit(lambda: order.append("high"), priority=1)
            first.open.set()
            results([running, low, high])
        assert order == ["high", "low"]

    def test_callers_take_turns(self) -> None:
        order: list[str] = []
        with opened() as scheduler:
            with busy(scheduler):
                futures = [
                    scheduler.submit(lambda caller=caller: order.append(caller), caller=caller)
                    for caller in ["many"] * 100 + ["few"] * 3 + ["one"]
                ]
            results(futures)
        assert order[:7] == ["many", "few", "one", "many", "few", "many", "few"]
        assert order[7:] == ["many"] * 97

    def test_a_caller_that_comes_back_waits_for_its_turn(self) -> None:
        order: list[str] = []
        with opened() as scheduler:
            with busy(scheduler):
                futures = [scheduler.submit(lambda: order.append("a"), caller="a") for _ in range(3)]
                futures.append(scheduler.submit(lambda: order.append("b"), caller="b"))

                def again() -> None:
                    order.append("b")
                    futures.append(scheduler.submit(lambda: order.append("b again"), caller="b"))

                futures.append(scheduler.submit(again, caller="b"))
            results(futures)
            results(futures)
        assert order == ["a", "b", "a", "b", "a", "b again"]

    @settings(deadline=None, max_examples=30)
    @given(st.lists(st.tuples(st.integers(-2, 2), st.sampled_from("abc")), max_size=40))
    def test_the_order_is_that_of_the_rule(self, submitted: list[tuple[int, str]]) -> None:
        order: list[int] = []
        with opened() as scheduler:
            with busy(scheduler):
                futures = [
                    scheduler.submit(lambda n=n: order.append(n), priority=priority, caller=caller)
                    for n, (priority, caller) in enumerate(submitted)
                ]
            results(futures)
        expected: list[int] = []
        for level in sorted({priority for priority, _ in submitted}, reverse=True):
            lines: dict[str, list[int]] = {}
            for n, (priority, caller) in enumerate(submitted):
                if priority == level:
                    lines.setdefault(caller, []).append(n)
            while lines:
                for caller in list(lines):
                    expected.append(lines[caller].pop(0))
                    if not lines[caller]:
                        del lines[caller]
        assert order == expected


class TestWorkers:
    def test_as_many_at_once_as_there_are_workers(self) -> None:
        together = threading.Barrier(3)
        with opened(workers=3) as scheduler:
            futures = [scheduler.submit(lambda: together.wait(SOON)) for _ in range(3)]
            assert sorted(map(int, results(futures))) == [0, 1, 2]  # type: ignore[call-overload]

    def test_never_more_at_once(self) -> None:
        running: Counter[str] = Counter()
        most = 0
        lock = threading.Lock()

        def work() -> None:
            nonlocal most
            with lock:
                running["now"] += 1
                most = max(most, running["now"])
            with lock:
                running["now"] -= 1

        with opened(workers=3) as scheduler:
            submitted = [scheduler.submit(work) for _ in range(300)]
            with concurrent.futures.ThreadPoolExecutor(8) as callers:
                list(callers.map(lambda _: scheduler.run(work), range(300)))
            results(submitted)
            assert scheduler.statistics() == {"waiting": 0, "running": 0, "promised_bytes": 0}
        assert 1 <= most <= 3

    def test_an_idle_worker_does_not_keep_others_from_starting(self) -> None:
        together = threading.Barrier(2)
        with opened(workers=2) as scheduler:
            scheduler.submit(lambda: None).result(SOON)
            until(lambda: scheduler._idle == 1)
            futures = [scheduler.submit(lambda: together.wait(SOON)) for _ in range(2)]
            assert sorted(map(int, results(futures))) == [0, 1]  # type: ignore[call-overload]

    def test_a_burst_wakes_all_idle_workers(self) -> None:
        with opened(workers=4) as scheduler:
            for _ in range(5):
                together = threading.Barrier(4)
                results([scheduler.submit(lambda together=together: together.wait(SOON)) for _ in range(4)])
                until(lambda: scheduler._idle == 4)


class TestMemory:
    def test_a_run_waits_for_memory(self) -> None:
        large, small = Gate(), Gate()
        with opened(workers=2, memory=100) as scheduler:
            first = scheduler.submit(large, memory=80)
            assert large.begun.wait(SOON)
            second = scheduler.submit(small, memory=30)
            assert scheduler.statistics() == {"waiting": 1, "running": 1, "promised_bytes": 80}
            assert not small.begun.is_set()
            large.open.set()
            assert small.begun.wait(SOON)
            small.open.set()
            results([first, second])

    def test_what_fits_runs_beside(self) -> None:
        together = threading.Barrier(2)
        with opened(workers=2, memory=100) as scheduler:
            results([scheduler.submit(lambda: together.wait(SOON), memory=50) for _ in range(2)])

    def test_more_than_there_is_runs_alone(self) -> None:
        with opened(workers=4, memory=100) as scheduler:
            assert scheduler.run(lambda: 1, memory=10**12) == 1
            large, other = Gate(), Gate()
            first = scheduler.submit(large, memory=10**12)
            assert large.begun.wait(SOON)
            second = scheduler.submit(other, memory=1)
            assert scheduler.statistics()["waiting"] == 1
            large.open.set()
            assert other.begun.wait(SOON)
            other.open.set()
            results([first, second])

    def test_small_ones_do_not_overtake_for_ever(self) -> None:
        # A large run at the head of the queue is next, however many small ones would fit before it.
        order: list[str] = []
        running = Gate()
        with opened(workers=2, memory=100) as scheduler:
            first = scheduler.submit(running, memory=50)
            assert running.begun.wait(SOON)
            futures = [scheduler.submit(lambda: order.append("large"), memory=100)]
            futures += [scheduler.submit(lambda: order.append("small"), memory=1) for _ in range(5)]
            running.open.set()
            results([first, *futures])
        assert order[0] == "large"

    def test_memory_that_comes_free_starts_all_that_fits(self) -> None:
        together = threading.Barrier(2)
        large = Gate()
        with opened(workers=3, memory=100) as scheduler:
            warm_up = threading.Barrier(3)
            results([scheduler.submit(lambda: warm_up.wait(SOON)) for _ in range(3)])
            until(lambda: scheduler._idle == 3)
            inline = threading.Thread(target=lambda: scheduler.run(large, memory=100))
            inline.start()
            assert large.begun.wait(SOON)
            futures = [scheduler.submit(lambda: together.wait(SOON), memory=50) for _ in range(2)]
            until(lambda: scheduler._idle == 3)
            large.open.set()
            assert sorted(map(int, results(futures))) == [0, 1]  # type: ignore[call-overload]
            inline.join()


class TestQueue:
    def test_is_bounded(self) -> None:
        with opened(queue=3) as scheduler:
            with busy(scheduler):
                futures = [scheduler.submit(lambda: 1) for _ in range(3)]
                with pytest.raises(Overloaded, match="3 runs are waiting"):
                    scheduler.submit(lambda: 1)
                with pytest.raises(Overloaded):
                    scheduler.run(lambda: 1)
                assert scheduler.statistics()["waiting"] == 3
            assert results(futures) == [1, 1, 1]
            assert scheduler.submit(lambda: 2).result(SOON) == 2

    def test_overloaded_is_an_infrastructure_error(self) -> None:
        assert issubclass(Overloaded, InfrastructureError)
        assert issubclass(DeadlinePassed, InfrastructureError)

    def test_10_000_waiting_runs_need_little_memory(self) -> None:
        count = 10_000
        with opened(workers=2) as scheduler:
            gc.collect()
            tracemalloc.start()
            with busy(scheduler):
                callers = random.Random(1).choices(range(20), k=count)
                futures = [scheduler.submit(lambda: 1, caller=caller, priority=caller % 3) for caller in callers]
                waiting_bytes = tracemalloc.get_traced_memory()[0]
            assert sum(map(int, results(futures))) == count  # type: ignore[call-overload]
            del futures
            gc.collect()
            left_bytes = tracemalloc.get_traced_memory()[0]
            tracemalloc.stop()
            assert scheduler.statistics() == {"waiting": 0, "running": 0, "promised_bytes": 0}
        assert waiting_bytes < count * 4000
        assert left_bytes < 500_000


class TestDeadlines:
    def test_a_run_that_waited_too_long_is_not_started(self) -> None:
        ran: list[int] = []
        with opened() as scheduler:
            with busy(scheduler):
                late = scheduler.submit(lambda: ran.append(1), seconds=0.0)
                good = scheduler.submit(lambda: ran.append(2), seconds=SOON)
            with pytest.raises(DeadlinePassed, match="deadline passed"):
                late.result(SOON)
            good.result(SOON)
        assert ran == [2]

    def test_a_deadline_is_no_limit_on_the_run(self) -> None:
        gate = Gate("done")
        with opened() as scheduler:
            future = scheduler.submit(gate, seconds=SOON)
            assert gate.begun.wait(SOON)
            gate.open.set()
            assert future.result(SOON) == "done"


class TestCancelling:
    def test_a_waiting_run_is_never_started(self) -> None:
        ran: list[int] = []
        with opened() as scheduler:
            with busy(scheduler):
                futures = [scheduler.submit(lambda n=n: ran.append(n)) for n in range(10)]
                assert all(future.cancel() for future in futures[::2])
            concurrent.futures.wait(futures, SOON)
            assert all(future.done() for future in futures)
        assert ran == [1, 3, 5, 7, 9]
        with pytest.raises(concurrent.futures.CancelledError):
            futures[0].result(0)

    def test_a_running_one_goes_on(self) -> None:
        gate = Gate("done")
        with opened() as scheduler:
            future = scheduler.submit(gate)
            assert gate.begun.wait(SOON)
            assert not future.cancel()
            gate.open.set()
            assert future.result(SOON) == "done"


class TestInline:
    """`run` does not hand over to another thread when there is nothing to wait for."""

    def test_runs_in_the_callers_thread(self) -> None:
        with opened() as scheduler:
            assert scheduler.run(threading.get_ident) == threading.get_ident()
            assert scheduler._threads == []

    def test_waits_its_turn_behind_others(self) -> None:
        order: list[str] = []
        with opened() as scheduler:
            with busy(scheduler):
                first = scheduler.submit(lambda: order.append("first"))
                caller = threading.Thread(target=lambda: scheduler.run(lambda: order.append("second")))
                caller.start()
                until(lambda: scheduler.statistics()["waiting"] == 2)
            caller.join(SOON)
            first.result(SOON)
        assert order == ["first", "second"]

    def test_counts_as_a_worker(self) -> None:
        gate = Gate()
        with opened() as scheduler:
            inline = threading.Thread(target=lambda: scheduler.run(gate))
            inline.start()
            assert gate.begun.wait(SOON)
            waiting = scheduler.submit(lambda: "after")
            assert scheduler.statistics() == {"waiting": 1, "running": 1, "promised_bytes": 0}
            assert not waiting.done()
            gate.open.set()
            assert waiting.result(SOON) == "after"
            inline.join(SOON)


class TestErrors:
    @pytest.mark.parametrize("error", [ValueError("x"), InfrastructureError("y"), SystemExit(3), KeyboardInterrupt()])
    def test_belong_to_the_caller(self, error: BaseException) -> None:
        def fail() -> None:
            raise error

        with opened() as scheduler:
            with pytest.raises(type(error)) as caught:
                scheduler.submit(fail).result(SOON)
            assert caught.value is error
            with pytest.raises(type(error)):
                scheduler.run(fail)
            assert scheduler.submit(lambda: 5).result(SOON) == 5
            until(lambda: scheduler.statistics()["running"] == 0)


class TestClose:
    def test_waits_for_what_runs_and_cancels_what_waits(self) -> None:
        gate = Gate("done")
        scheduler = Scheduler(1, 1000)
        running = scheduler.submit(gate)
        assert gate.begun.wait(SOON)
        waiting = [scheduler.submit(lambda: 1) for _ in range(3)]
        closing = threading.Thread(target=scheduler.close)
        closing.start()
        until(lambda: all(future.cancelled() for future in waiting))
        assert closing.is_alive()
        gate.open.set()
        closing.join(SOON)
        assert not closing.is_alive()
        assert running.result(0) == "done"
        # Also for those who wait in this way, which hears of a cancelled future only when its executor says so.
        assert len(concurrent.futures.wait(waiting, timeout=1).done) == 3

    def test_waits_for_what_runs_in_callers_threads(self) -> None:
        gate = Gate()
        scheduler = Scheduler(1, 1000)
        inline = threading.Thread(target=lambda: scheduler.run(gate))
        inline.start()
        assert gate.begun.wait(SOON)
        closing = threading.Thread(target=scheduler.close)
        closing.start()
        until(lambda: scheduler._closed)
        closing.join(0.2)
        assert closing.is_alive()
        gate.open.set()
        closing.join(SOON)
        assert not closing.is_alive()
        inline.join(SOON)

    def test_nothing_more_is_taken(self) -> None:
        scheduler = Scheduler(1, 1000)
        assert scheduler.submit(lambda: 1).result(SOON) == 1
        scheduler.close()
        scheduler.close()
        with pytest.raises(RuntimeError, match="closed"):
            scheduler.submit(lambda: 1)
        with pytest.raises(RuntimeError, match="closed"):
            scheduler.run(lambda: 1)
        assert not any(thread.is_alive() for thread in scheduler._threads)
