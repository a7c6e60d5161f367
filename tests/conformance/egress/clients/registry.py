"""A registry of Python packages with one package in it. Arguments: a directory, an address."""

import functools
import http.server
import os
import sys
import threading
import zipfile

directory, address = sys.argv[1:]
place = os.path.join(directory, "simple", "greeting")
os.makedirs(place)
wheel = "greeting-1.0-py3-none-any.whl"
with zipfile.ZipFile(os.path.join(place, wheel), "w") as archive:
    about = "greeting-1.0.dist-info"
    archive.writestr("greeting.py", "WORDS = 'hello from a package'\n")
    archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
    archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    archive.writestr(f"{about}/RECORD", f"greeting.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")
with open(os.path.join(place, "index.html"), "w") as index:
    index.write(f'<!DOCTYPE html><a href="{wheel}">{wheel}</a>')


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer((address, 0), functools.partial(Handler, directory=directory))
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
# Whoever started this closes its end when nobody is left to serve.
sys.stdin.read()
