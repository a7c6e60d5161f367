"""The first thing to run: says hello, and from where."""

import os
import platform

print("Hello from the box!")
print(f"I am user {os.getuid()}, process {os.getpid()}, on a host called {platform.node()}.")
