import os, ssl, time, urllib.request

context = ssl.create_default_context(cafile="ca.pem")
for target in os.environ["TARGETS"].split():
    begun = time.monotonic()
    try:
        print("reached", urllib.request.urlopen(target, context=context).read().decode())
    except OSError:
        print("refused" if time.monotonic() - begun < 3 else "late")
