"""jailpy runs code that a language model wrote in jails of its own and turns it into a reward.

    reward = jailpy.execute_code(code, tests)        # one float
    grade = jailpy.grade(code, tests)                # the evidence behind it

Layout, imports only go down:

    cli                                          argument parsing
    execute, jail, extract, grading, scoring     what a reward is
    compare, report, measuring, efficiency       what is right, and what it costs
    checking, interaction                        verdicts of the caller's own judges
    workers, check_worker                        processes for trusted checkers
    cold, lower, programs, languages, roots      one jail's life, and what goes into it
    kernel                                       the only package that touches Linux
    policy, limits, status, verdict, errors      plain frozen data
    guest                                        what runs inside a jail; imports nothing from above
"""

from jailpy.compare import TextCompare, ValueCompare
from jailpy.efficiency import Efficiency
from jailpy.errors import (
    CheckerError,
    HelperLost,
    InfrastructureError,
    JailpyError,
    LayerMissing,
    Overloaded,
    SetupError,
    UsageError,
)
from jailpy.execute import execute_code, execute_many, grade, grade_many, run, submit
from jailpy.extract import extract_code
from jailpy.grading import Grade, Outcome
from jailpy.jail import Jail, Job
from jailpy.limits import Limits
from jailpy.policy import LAYERS, Policy, ReadOnly
from jailpy.scoring import Scoring
from jailpy.status import Result, Status, Usage
from jailpy.verdict import Verdict

__version__ = "0.1.0"

__all__ = [
    "LAYERS",
    "CheckerError",
    "Efficiency",
    "Grade",
    "HelperLost",
    "InfrastructureError",
    "Jail",
    "JailpyError",
    "Job",
    "LayerMissing",
    "Limits",
    "Outcome",
    "Overloaded",
    "Policy",
    "ReadOnly",
    "Result",
    "Scoring",
    "SetupError",
    "Status",
    "TextCompare",
    "Usage",
    "UsageError",
    "ValueCompare",
    "Verdict",
    "execute_code",
    "execute_many",
    "extract_code",
    "grade",
    "grade_many",
    "run",
    "submit",
]
