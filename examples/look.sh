# Bash: what a box looks like from inside.

writable() { if [ -w "$1" ]; then echo "$1 can be written"; else echo "$1 cannot be written"; fi; }

echo "I am in $PWD"
writable /usr
writable /tmp
(exec 3<>/dev/tcp/192.0.2.1/80) 2>/dev/null && echo "there is a network" || echo "there is no network"
