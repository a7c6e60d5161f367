# Says whether a command succeeded, with its output, or how soon it failed.
attempt() {
    begun=$(date +%s%N)
    if answer=$("$@"); then
        echo "reached $answer"
    elif [ $(($(date +%s%N) - begun)) -lt 3000000000 ]; then
        echo refused
    else
        echo late
    fi
}
