"""Programs, policies and calls that nobody would write, against the invariants that must hold for every one of them.

    python -m fuzz.guests --runs 10000 --seed 1     hostile guests, each a random program of random actions
    python -m fuzz.pool --runs 100 --seed 1         calls, cancels, kills and full disks in any order, on one warm jail
    make -C native fuzz                             the decoder of launch specs, under libFuzzer (fuzz_spec.c, corpus/)

`tests/sandbox/test_fuzz.py` runs a short form of each. The first two print how to run again what failed.
"""
