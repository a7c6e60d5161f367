"""Python: counts the words on standard input, most frequent first."""

import sys
from collections import Counter

counts = Counter(sys.stdin.read().lower().split())
for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
    print(f"{count} {word}")
