"""A command of `serve_tools`: hands a command line to the server, and ends as that says.

    served_command.py SOCKET TOOL ARGUMENT...

The file is run by its path, without packages and `site`, and imports what the interpreter has built
in, so that it takes a hundredth of a second: that is its whole purpose.
"""

from __future__ import annotations

import _socket
import os
import sys


def run_command(address: str, tool: str, arguments: list[str]) -> int:
    """Let the server run a tool in place of this process; the exit status.

    The tool has this process's standard streams, folder, environment and umask. A signal that ends
    it ends this process, too.
    """
    # Before the socket, which would take the place of a stream that is closed.
    streams = [number for number in range(3) if _is_open(number)]
    try:
        folder = os.getcwdb()
    except OSError as error:
        sys.stderr.write(f"{tool}: error: the current folder: {error.strerror}\n")
        return 1
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(address)
        _send_request(connection, streams, folder, [tool, *arguments])
        answer = connection.recv(64)
    except OSError:
        answer = b""
    finally:
        connection.close()
    if not answer:
        sys.stderr.write(f"{tool}: error: the server of this command has ended; start it again\n")
        return 1
    status = int(answer)
    if status < 0:
        os.kill(os.getpid(), -status)
        return 128 - status  # of a signal that the interpreter ignores
    return status


def _send_request(
    connection: _socket.socket, streams: list[int], folder: bytes, words: list[str]
) -> None:
    umask = os.umask(0)
    os.umask(umask)
    fields = [
        "".join(map(str, streams)).encode(),
        str(umask).encode(),
        folder,
        str(len(words)).encode(),
        *map(os.fsencode, words),
        *(name + b"=" + value for name, value in os.environb.items()),
    ]
    request = b"\0".join(fields)
    message = len(request).to_bytes(8, "little") + request
    descriptors = b"".join(number.to_bytes(4, sys.byteorder) for number in streams)
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptors)] if streams else []
    sent = connection.sendmsg([message], rights)
    connection.sendall(message[sent:])


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    try:
        exit_status = run_command(sys.argv[1], sys.argv[2], sys.argv[3:])
    except KeyboardInterrupt:
        exit_status = 130  # As of the tools themselves; the server ends the tool.
    os._exit(exit_status)
