"""The protocol, without I/O: what to send, what a response means, when to retry, where the next page is.

Nothing here opens a connection or sleeps, and clocks can be injected, so both clients share all of it, and its tests
need no network. At its heart is `exchange`, a generator that yields steps to its driver (send, sleep) and ends with a
response or an error.
"""
