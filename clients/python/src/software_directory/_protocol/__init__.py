"""The protocol, without I/O: what to send, what an answer means, when to try again, where the next page is.

Nothing here opens a connection, sleeps or reads a clock of its own accord, so the blocking and the asynchronous client
share all of it and its tests need neither. `exchange` is the heart: a generator of steps for its driver (send,
sleep) that ends with the answer or an error.
"""
