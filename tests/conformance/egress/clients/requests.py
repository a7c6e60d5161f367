import os, sys, time

sys.path.insert(0, "/clients/python")
import requests

for target in os.environ["TARGETS"].split():
    begun = time.monotonic()
    try:
        print("reached", requests.get(target, verify="ca.pem").text)
    except requests.ConnectionError:
        print("refused" if time.monotonic() - begun < 3 else "late")
