"""Uses CPU time for ever and ignores every signal that asks for an end."""

import signal

for sig in (signal.SIGTERM, signal.SIGXCPU, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM):
    signal.signal(sig, signal.SIG_IGN)
while True:
    pass
