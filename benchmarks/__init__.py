"""Measurements of jailpy beside other ways to run a program. See README.md; each module is a command of its own."""
