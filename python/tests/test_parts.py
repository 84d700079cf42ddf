"""Phases of coroutines and generators: they last as long as the bodies run."""

from __future__ import annotations

import asyncio
import functools
import inspect
import time
import unittest
from typing import Any, AsyncIterator, Iterator, List

from pacman_pmu import Session

from test_phases import EVENTS, row

PART = 0.05


class Parts(unittest.TestCase):
    def setUp(self) -> None:
        self.session = Session(EVENTS, name=self.id())
        self.addCleanup(self.session.close)

    def check(self, name: str, executions: int, least: float) -> None:
        found = row(self.session.frame(), name)
        self.assertEqual((found["executions"], found["open"]), (executions, 0))
        self.assertGreaterEqual(found["time_ns"], least * 1e9)

    def test_a_coroutine_counts_while_it_runs_and_not_while_it_waits(self) -> None:
        @self.session.phase("work")
        async def work(parts: int) -> int:
            for _ in range(parts):
                time.sleep(PART)
                await asyncio.sleep(4 * PART)
            return parts

        self.assertTrue(inspect.iscoroutinefunction(work))
        self.assertEqual(asyncio.run(work(2)), 2)
        found = row(self.session.frame(), "work")
        self.assertEqual((found["executions"], found["open"]), (3, 0))
        self.assertGreaterEqual(found["time_max_ns"], PART * 1e9)
        self.assertGreaterEqual(found["time_ns"], 2 * PART * 1e9)

    def test_a_coroutine_without_suspension_is_one_execution(self) -> None:
        @self.session.phase("whole")
        async def whole() -> None:
            time.sleep(PART)

        asyncio.run(whole())
        self.check("whole", 1, PART)

    def test_tasks_that_take_turns_have_phases_of_their_own(self) -> None:
        def task(name: str) -> Any:
            @self.session.phase(name)
            async def run(parts: int) -> None:
                for _ in range(parts):
                    time.sleep(PART)
                    await asyncio.sleep(0)

            return run

        async def both() -> None:
            await asyncio.gather(task("one")(1), task("two")(3))

        asyncio.run(both())
        self.check("one", 2, PART)
        self.check("two", 4, 3 * PART)

    def test_a_generator_counts_its_own_parts(self) -> None:
        @self.session.phase("rows")
        def rows(count: int) -> Iterator[int]:
            for number in range(count):
                time.sleep(PART)
                yield number
            return count

        self.assertTrue(inspect.isgeneratorfunction(rows))
        found: List[int] = []
        for number in rows(3):
            # The consumer has another phase, which begins and ends between two parts.
            with self.session.phase("consumer"):
                found.append(number)
        self.assertEqual(found, [0, 1, 2])
        self.check("rows", 4, 3 * PART)
        self.check("consumer", 3, 0)

    def test_a_generator_is_sent_values_and_errors_and_closed(self) -> None:
        seen: List[Any] = []

        @self.session.phase("talk")
        def talk() -> Iterator[Any]:
            try:
                seen.append((yield "first"))
                try:
                    yield "second"
                except KeyError as error:
                    seen.append(error)
                yield "third"
            finally:
                seen.append("closed")
                time.sleep(PART)

        body = talk()
        self.assertEqual(next(body), "first")
        self.assertEqual(body.send(7), "second")
        fault = KeyError("x")
        self.assertEqual(body.throw(fault), "third")
        body.close()
        self.assertEqual(seen, [7, fault, "closed"])
        self.check("talk", 4, PART)

        @self.session.phase("result")
        def result() -> Iterator[int]:
            value = yield 1
            return value

        def outer() -> Any:
            return (yield from result())

        body = outer()
        next(body)
        with self.assertRaises(StopIteration) as end:
            body.send("answer")
        self.assertEqual(end.exception.value, "answer")

    def test_an_asynchronous_generator_counts_its_own_parts(self) -> None:
        closed: List[str] = []

        @self.session.phase("stream")
        async def stream(count: int) -> AsyncIterator[int]:
            try:
                for number in range(count):
                    time.sleep(PART)
                    await asyncio.sleep(0)
                    yield number
            finally:
                closed.append("closed")

        self.assertTrue(inspect.isasyncgenfunction(stream))

        async def consume() -> List[int]:
            return [number async for number in stream(3)]

        self.assertEqual(asyncio.run(consume()), [0, 1, 2])
        self.check("stream", 7, 3 * PART)

        async def first_only() -> int:
            body = stream(3)
            async for number in body:
                break
            await body.aclose()
            return number

        self.assertEqual(asyncio.run(first_only()), 0)
        self.assertEqual(closed, ["closed", "closed"])
        self.assertEqual(row(self.session.frame(), "stream")["open"], 0)

    def test_a_cancelled_coroutine_ends_its_phase(self) -> None:
        @self.session.phase("cancelled")
        async def wait() -> None:
            try:
                await asyncio.sleep(100)
            finally:
                time.sleep(PART)

        async def cancel() -> None:
            task = asyncio.ensure_future(wait())
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        asyncio.run(cancel())
        self.check("cancelled", 2, PART)

    def test_other_callables_whose_body_runs_later(self) -> None:
        async def add(one: float, other: float) -> float:
            time.sleep(PART)
            return one + other

        class Adder:
            async def __call__(self, one: float) -> float:
                return await add(one, 1)

            @staticmethod
            async def plain(one: float) -> float:
                return await add(one, 2)

        def made(one: float) -> Any:
            return add(one, 3)

        for name, function, executions in (
            ("partial", functools.partial(add, 0), 1),
            ("object", Adder(), 1),
            ("static", Adder.plain, 1),
            ("made", made, 2),
        ):
            asyncio.run(self.session.phase(name)(function)(1))
            self.check(name, executions, PART)


if __name__ == "__main__":
    unittest.main()
