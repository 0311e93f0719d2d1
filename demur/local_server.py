"""The child process of `demur.local`: serves one model file on loopback for as long as its parent lives.

    python local_server.py PATH.gguf

It prints the address of the server as its only line on stdout, and ends when its stdin ends: that happens also when
the parent is killed, so that no server is left behind.
"""

import importlib
import os
import sys
from typing import Any


def main() -> None:
    """Serve the model file that is the first argument."""
    xllamacpp: Any = importlib.import_module("xllamacpp")  # an optional dependency
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever llama.cpp prints is no answer
    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.port = 0
    params.n_parallel = 1
    params.ui = False
    server = xllamacpp.Server(params)
    print(server.listening_address, file=answers, flush=True)
    sys.stdin.buffer.read()
    os._exit(0)  # at once: a generation that is running would hold up a regular end


if __name__ == "__main__":
    main()
