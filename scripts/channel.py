"""Start a machine and listen to its channel.

The guest-side scripts write one JSON object a line on a channel of their own:
the second serial port of an emulated machine, standard output on a real host.
"""

import json
import os
import selectors
import shlex
import subprocess
import time

# Every wait has a bound; seconds, each can be set from the environment.
BOOT_TIMEOUT = int(os.environ.get("BOOT_TIMEOUT", 240))      # until the guests are up
SILENCE_TIMEOUT = int(os.environ.get("SILENCE_TIMEOUT", 600)) # between two lines after that
POWEROFF_TIMEOUT = int(os.environ.get("POWEROFF_TIMEOUT", 30))


def listen(line, directory, heard=lambda message: None):
    """Run a command, the machine, to its end; its standard output is the channel.

    Each line of the channel goes, with the time it came, to channel.jsonl, and
    to heard(message) if it is a JSON object. Returns how the machine ended:
    {"ended": "verdict"|"exited"|"boot-timeout"|"silence"|"no-poweroff",
     "status": the command's exit status or null, "seconds": wall time, "said":
    what it wrote to stderr}. The judge makes a verdict of that, not this function.
    """
    (directory / "command").write_text(shlex.join(map(str, line)) + "\n")
    began = time.time()
    ended, booted, verdict = None, False, False
    with open(directory / "channel.jsonl", "w") as log, open(directory / "stderr", "w+") as errors:
        machine = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(machine.stdout, selectors.EVENT_READ)
                deadline, pending = began + BOOT_TIMEOUT, b""
                while ended is None:
                    if not selector.select(max(0, deadline - time.time())):
                        ended = "no-poweroff" if verdict else "silence" if booted else "boot-timeout"
                        break
                    data = os.read(machine.stdout.fileno(), 65536)
                    if not data:
                        ended = "verdict" if verdict else "exited"
                        break
                    *lines, pending = (pending + data).split(b"\n")
                    for raw in lines:
                        now = time.time()
                        text = raw.decode(errors="replace").strip("\r\0 ")
                        log.write(json.dumps({"time": round(now, 6), "line": text}) + "\n")
                        log.flush()
                        message = parse(text)
                        if message is None:
                            continue
                        booted = booted or message.get("stage") == "guests"
                        verdict = verdict or message.get("type") == "verdict"
                        if verdict:
                            deadline = now + POWEROFF_TIMEOUT
                        elif booted:
                            deadline = now + SILENCE_TIMEOUT
                        heard(message)
            if ended in ("verdict", "exited"):
                machine.wait(timeout=POWEROFF_TIMEOUT)
        except subprocess.TimeoutExpired:
            pass
        finally:
            status = machine.poll()
            machine.kill()
            machine.wait()
        errors.seek(0)
        said = errors.read().strip()
    return {"ended": ended, "status": status, "seconds": round(time.time() - began, 1), "said": said}


def parse(text):
    """The JSON object in a line of the channel, or None."""
    try:
        message = json.loads(text)
    except ValueError:
        return None
    return message if isinstance(message, dict) else None
