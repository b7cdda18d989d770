# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium over its debugging pipe (file descriptors 3 and 4): no port, no driver, no package."""
import json
import os
import shutil
import subprocess
import tempfile
import time


class NoBrowser(Exception):
    pass


def find():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise NoBrowser("no chromium here (scripts/setup.sh test installs it)")


class Chromium:
    def __init__(self, width=1400, height=900):
        to_browser, self._in = os.pipe()
        self._out, from_browser = os.pipe()
        self._profile = tempfile.TemporaryDirectory(prefix="orrery-chromium-", ignore_cleanup_errors=True)

        def wire():
            # First out of the way, in case one of them is 3 or 4 itself.
            read, write = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self._process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--disable-extensions", "--disable-background-networking",
             f"--user-data-dir={self._profile.name}", f"--window-size={width},{height}", "--remote-debugging-pipe"],
            preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._buffer, self._number = b"", 0
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = None
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._in)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        self._profile.cleanup()

    def _receive(self):
        while b"\0" not in self._buffer:
            piece = os.read(self._out, 1 << 20)
            if not piece:
                raise RuntimeError("the browser is gone")
            self._buffer += piece
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self._number += 1
        command = {"id": self._number, "method": method, "params": parameters}
        if getattr(self, "_session", None):
            command["sessionId"] = self._session
        os.write(self._in, json.dumps(command).encode() + b"\0")
        while True:
            message = self._receive()
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def open(self, path, seconds=60):
        """Opens a page and waits until it says that it is drawn."""
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.evaluate("!!window.orreryPage && document.readyState === 'complete'"):
                return
            time.sleep(0.05)
        raise RuntimeError(f"{path} was not drawn within {seconds} s: {self.complaints()}")

    def complaints(self):
        """Errors and warnings of the console, exceptions, and requests for anything but the page itself."""
        self.evaluate("1")
        found = []
        for event in self.events:
            method, p = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(p["exceptionDetails"].get("exception", {}).get("description", str(p)))
            if method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
                found.append(str([a.get("value", a.get("description")) for a in p["args"]]))
            if method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                found.append(p["entry"]["text"])
            if method == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("file:", "data:", "blob:")):
                found.append("a request for " + p["request"]["url"])
        return found

    def screenshot(self, path, whole=False):
        import base64
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def point_at(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x - 2, y=y)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
