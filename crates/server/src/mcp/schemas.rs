//! What the tools are for and what they take, for models and for clients that check.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::{ToolNames, names::ToolName};

pub(super) fn tool(tool: ToolName, names: ToolNames) -> Tool {
    let (title, about, properties, required) = input(tool);
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    let read_only =
        matches!(tool, ToolName::FilesRead | ToolName::FilesList | ToolName::PolicyExplain);
    let annotations = ToolAnnotations::with_title(title)
        .read_only(read_only)
        .destructive(!read_only)
        .open_world(false);
    Tool::new(tool.spelt(names), about, Arc::new(object(schema)))
        .with_title(title)
        .with_annotations(annotations)
        .with_raw_output_schema(Arc::new(object(output(tool))))
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

fn input(tool: ToolName) -> (&'static str, &'static str, Value, Value) {
    let path = json!({"type": "string", "description": "Relative to the workspace, for example src/main.py."});
    let content = json!({
        "description": "A text, or {\"base64\": TEXT} for other bytes.",
        "anyOf": [
            {"type": "string"},
            {
                "type": "object",
                "properties": {"base64": {"type": "string"}},
                "required": ["base64"],
                "additionalProperties": false,
            },
        ],
    });
    let files = json!({
        "type": "object",
        "description": "Files to put into the workspace first, by relative path.",
        "additionalProperties": content,
    });
    let stdin = json!({"type": "string", "description": "Standard input."});
    match tool {
        ToolName::CodeRun => (
            "Run code in a box",
            "Runs source code in an isolated box and returns its output. The working directory is /workspace. PNG files written to /artifacts come back as pictures. No network unless the policy gives one.",
            json!({
                "language": {"type": "string", "description": "python, javascript, typescript, go, rust, java, cpp, bash and others."},
                "code": {"type": "string", "description": "The source code."},
                "args": {"type": "array", "items": {"type": "string"}, "description": "Arguments for the program."},
                "files": files, "stdin": stdin, "limits": limits(), "sandboxPolicy": policy(),
            }),
            json!(["language", "code"]),
        ),
        ToolName::ShellRun => (
            "Run a command in a box",
            "Runs a shell command in an isolated box, in the workspace, and returns its output. PNG files written to /artifacts come back as pictures. No network unless the policy gives one.",
            json!({
                "command": {"type": "string", "description": "The command, for bash where it is installed."},
                "files": files, "stdin": stdin, "limits": limits(), "sandboxPolicy": policy(),
            }),
            json!(["command"]),
        ),
        ToolName::FilesRead => (
            "Read a file of the workspace",
            "Reads a file of the workspace, up to 1 MiB. Links are not followed.",
            json!({"path": path}),
            json!(["path"]),
        ),
        ToolName::FilesWrite => (
            "Write a file of the workspace",
            "Writes a whole file of the workspace, and makes the directories above it.",
            json!({"path": path, "content": content}),
            json!(["path", "content"]),
        ),
        ToolName::FilesList => (
            "List a directory of the workspace",
            "Lists a directory of the workspace. Without a path, the workspace itself.",
            json!({"path": path}),
            json!([]),
        ),
        ToolName::PolicyExplain => (
            "Explain the policy",
            "Says whether a path, a host, a variable or a tool is allowed, and which line of the policy says so. Without any of them, all of the policy.",
            json!({
                "path": {"type": "string", "description": "A path of the workspace, or an absolute one of the host."},
                "host": {"type": "string"},
                "port": {"type": "integer", "minimum": 0, "maximum": 65535},
                "env": {"type": "string", "description": "The name of a variable."},
                "tool": {"type": "string", "description": "The name of an agent's tool, for example Bash."},
                "sandboxPolicy": policy(),
            }),
            json!([]),
        ),
    }
}

fn limits() -> Value {
    let amount = |about: &str| json!({"type": ["string", "number"], "description": about});
    json!({
        "type": "object",
        "description": "Limits of this run. Lower ones always hold; higher ones up to the ceiling that the user's policy sets.",
        "properties": {
            "timeout": amount("Wall time, for example 10s."),
            "memory": amount("Memory, for example 256m."),
            "cpus": amount("Processors, for example 0.5."),
            "pids": amount("Processes and threads."),
            "disk": amount("Writable space, for example 100m."),
            "output": amount("Bytes of output, for example 1m."),
        },
        "additionalProperties": true,
    })
}

fn policy() -> Value {
    json!({
        "type": "object",
        "description": "A policy for this call alone, as in sandbox.policy.yaml: sections fs, net, proc, env, require. It tightens freely, and loosens only below the user's ceiling. Example: {\"proc\": {\"memory\": \"64m\"}, \"fs\": {\"workspace\": \"ro\"}}.",
    })
}

/// What programs can rely on in an answer.
fn output(tool: ToolName) -> Value {
    let text = json!({"type": "string"});
    match tool {
        ToolName::CodeRun | ToolName::ShellRun => json!({
            "type": "object",
            "properties": {
                "id": text,
                "success": {"type": "boolean"},
                "status": text,
                "exit_code": {"type": ["integer", "null"]},
                "signal": {"type": ["integer", "null"]},
                "stdout": text,
                "stderr": text,
                "truncated": {"type": "boolean"},
                "execution_time": {"type": "number"},
                "memory_used": {"type": "integer"},
                "policy": {"type": "object"},
                "resources": {"type": "object"},
            },
            "required": ["success", "status"],
        }),
        _ => json!({"type": "object"}),
    }
}
