"""What a run means against a test."""

from __future__ import annotations

import enum


class Verdict(enum.Enum):
    """The closed list of judgements of one test. Exactly one holds."""

    PASSED = "passed"
    """The answer is right and every limit was kept."""
    WRONG_ANSWER = "wrong_answer"
    """The program ended well and its answer is not the expected one."""
    RUNTIME_ERROR = "runtime_error"
    """The program raised, was killed by a signal of its own making, or gave a non-zero exit code."""
    TIME_LIMIT = "time_limit"
    """The CPU time or wall time ran out."""
    MEMORY_LIMIT = "memory_limit"
    """The jail needed more memory than it may."""
    OUTPUT_LIMIT = "output_limit"
    """The program wrote more than it may."""
    COMPILE_ERROR = "compile_error"
    """The code does not compile; no test ran."""
    SKIPPED = "skipped"
    """The test did not run because an earlier one decided."""
    INTERNAL_ERROR = "internal_error"
    """The judging failed; this is never turned into a reward."""
