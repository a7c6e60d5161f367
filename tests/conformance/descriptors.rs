//! What a program holds open at its start: its three streams, nothing of whoever started it.

use fumehood_tests::{Case, assert_printed, python};

pub fn cases() -> Vec<Case> {
    vec![
        // The harness holds a descriptor open that every child inherits. The program shows with
        // one of its own that it would see another.
        Case::new(
            "descriptors::streams_only",
            |_| {
                python(
                    "import os\n\
                     def held():\n\
                     \x20found = []\n\
                     \x20for fd in range(4096):\n\
                     \x20\x20try: os.fstat(fd); found.append(fd)\n\
                     \x20\x20except OSError: pass\n\
                     \x20return found\n\
                     print(held()); os.open('/dev/null', os.O_RDONLY); print(held())",
                )
            },
            |_, outcome| assert_printed(outcome, "[0, 1, 2]\n[0, 1, 2, 3]\n"),
        ),
        Case::new(
            "descriptors::streams_lead_nowhere",
            |_| {
                python(
                    "import os, stat\n\
                     for fd in (0, 1, 2): print(stat.S_ISDIR(os.fstat(fd).st_mode), os.isatty(fd))",
                )
            },
            |_, outcome| assert_printed(outcome, &"False False\n".repeat(3)),
        ),
    ]
}
