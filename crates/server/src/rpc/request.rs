//! What `run` and `exec` are given, as the request that the library takes. The names are those of
//! the command line's options.

use std::path::PathBuf;

use fumehood::{
    Dataset, LimitOverrides, Mount, PolicyChoice, Program, Request, StdinSource, VolumeMount,
    Workspace, WorkspaceMode,
    language::Registry,
    policy::{GitAccess, NetMode, PolicyText, ProfileName, Spoken},
};
use serde_json::{Value, json};

use super::{content, fault::Fault, fields::Fields};

/// The kernel's own bound: no more processes than that.
const MOST: u32 = 1 << 22;

const MODES: &[(&str, WorkspaceMode)] = &[
    ("ro", WorkspaceMode::ReadOnly),
    ("rw", WorkspaceMode::ReadWrite),
    ("overlay", WorkspaceMode::Overlay),
];

/// The request of `run`.
pub(super) fn of_run(fields: &mut Fields) -> Result<Request, Fault> {
    let code = fields.bytes("code")?;
    let code = fields.required("code", code, "the code to run")?;
    let name = fields.text("file_name")?;
    let seen = || Some(Registry::builtin().by_path(name.as_deref()?.as_ref())?.name.clone());
    let language = fields.text("language")?.or_else(seen);
    let expected = "a language such as \"python\", or a `file_name` that tells it";
    let language = fields.required("language", language, expected)?;
    let mut request = Request::code(language, code);
    if let Program::Code { file_name, args, .. } = &mut request.program {
        *args = fields.texts("args")?.unwrap_or_default();
        *file_name = name;
    }
    further(fields, &mut request)?;
    Ok(request)
}

/// The request of `exec`. As on the command line, the current directory is the workspace unless
/// another one is named; `false` asks for an empty one.
pub(super) fn of_exec(fields: &mut Fields) -> Result<Request, Fault> {
    let argv = fields.texts("argv")?;
    let argv = fields.required("argv", argv, "the program and its arguments")?;
    let mut request = Request::command(argv);
    request.workspace = Some(Workspace { directory: PathBuf::from("."), mode: None });
    further(fields, &mut request)?;
    Ok(request)
}

/// Everything that both share.
fn further(fields: &mut Fields, request: &mut Request) -> Result<(), Fault> {
    request.spoken = Spoken::Fields;
    request.stdin = stdin(fields)?;
    request.env = fields.named_texts("env")?.into_iter().collect();
    for (path, value) in fields.table("files")? {
        let content = content::bytes(&format!("files.{path}"), value)?;
        request.files.insert(PathBuf::from(path), content);
    }
    workspace(fields, request)?;
    mounts(fields, request)?;
    (request.policy, request.overrides) = policy(fields)?;
    request.limits = limits(fields)?;
    request.network = fields.word(
        "network",
        &[("none", NetMode::None), ("localhost", NetMode::Localhost), ("allow", NetMode::Allow)],
    )?;
    request.git = fields.word(
        "git",
        &[("off", GitAccess::Off), ("ro", GitAccess::ReadOnly), ("rw", GitAccess::ReadWrite)],
    )?;
    request.unrecorded = fields.flag("no_ledger")?;
    request.backend = match fields.text("backend")? {
        None => None,
        Some(name) => Some(name.parse().map_err(|error| Fault::refused("unavailable", &error))?),
    };
    Ok(())
}

fn stdin(fields: &mut Fields) -> Result<StdinSource, Fault> {
    Ok(match fields.any("stdin") {
        None => StdinSource::Empty,
        Some(value) if value == json!({"live": true}) => StdinSource::Live,
        Some(value) => StdinSource::Bytes(content::bytes("stdin", value)?),
    })
}

fn workspace(fields: &mut Fields, request: &mut Request) -> Result<(), Fault> {
    let given = match fields.any("workspace") {
        None => {
            // Files need an empty workspace; nobody asks for both by saying neither.
            if !request.files.is_empty() {
                request.workspace = None;
            }
            return Ok(());
        }
        Some(value) => value,
    };
    request.workspace = match given {
        Value::Bool(false) => None,
        Value::String(directory) => Some(Workspace { directory: directory.into(), mode: None }),
        value @ Value::Object(_) => {
            let mut part = fields.part("workspace", value)?;
            let directory = part.text("directory")?;
            let directory = part.required("directory", directory, "a path")?.into();
            let mode = part.word("mode", MODES)?;
            part.end()?;
            Some(Workspace { directory, mode })
        }
        _ => {
            let expected =
                "a path, an object with `directory` and `mode`, or false for an empty one";
            return Err(fields.wrong("workspace", expected));
        }
    };
    Ok(())
}

fn mounts(fields: &mut Fields, request: &mut Request) -> Result<(), Fault> {
    for mut part in fields.objects("mounts")? {
        let (source, target) = (part.text("source")?, part.text("target")?);
        let source = part.required("source", source, "a path of this machine")?;
        let target = part.required("target", target, "a path in the box")?;
        request.mounts.push(match part.word("access", &[("ro", false), ("rw", true)])? {
            Some(true) => Mount::read_write(source, target),
            Some(false) | None => Mount::read_only(source, target),
        });
        part.end()?;
    }
    for (name, target) in fields.named_texts("volumes")? {
        let name = name.parse().map_err(|error| Fault::refused("volume", &error))?;
        request.volumes.push(VolumeMount { name, target: target.into() });
    }
    for (name, path) in fields.named_texts("datasets")? {
        let name = name.parse().map_err(|error| Fault::refused("path", &error))?;
        request.datasets.push(Dataset { name, path: path.into() });
    }
    request.deps = fields.text("deps")?.map(PathBuf::from);
    request.candidate = fields.text("candidate")?.map(PathBuf::from);
    Ok(())
}

fn limits(fields: &mut Fields) -> Result<LimitOverrides, Fault> {
    Ok(LimitOverrides {
        memory: fields.limit("memory")?,
        cpus: fields.limit("cpus")?,
        pids: fields.count("pids", MOST)?,
        timeout: fields.limit("timeout")?,
        grace: fields.limit("grace")?,
        output: fields.limit("output_limit")?,
        disk: fields.limit("disk")?,
        open_files: fields.count("open_files", MOST)?,
        file_size: fields.limit("file_size")?,
    })
}

/// The policy to obey, and what the request lays on top of it. A word is the name of a profile; a
/// policy itself is never a single word.
pub(super) fn policy(fields: &mut Fields) -> Result<(PolicyChoice, Option<PolicyText>), Fault> {
    let found =
        || PolicyChoice::Discover { from: PathBuf::from("."), otherwise: ProfileName::Default };
    let file = fields.text("policy_file")?.map(|path| PolicyChoice::File(path.into()));
    let named = |text| PolicyText { name: "request.policy".to_owned(), text };
    match fields.any("policy") {
        None => Ok((file.unwrap_or_else(found), None)),
        Some(Value::String(word)) if !word.contains([':', '\n', '{']) => {
            if file.is_some() {
                return Err(fields.wrong("policy", "absent, or no profile, beside `policy_file`"));
            }
            let profile =
                ProfileName::find(&word).map_err(|error| Fault::refused("policy", &error))?;
            Ok((PolicyChoice::Profile(profile), None))
        }
        Some(Value::String(text)) => Ok((file.unwrap_or_else(found), Some(named(text)))),
        Some(Value::Object(mut object)) => {
            object.entry("version").or_insert(json!(1));
            let text = format!("{:#}", Value::Object(object));
            Ok((file.unwrap_or_else(found), Some(named(text))))
        }
        Some(_) => Err(fields.wrong("policy", "a profile, a policy as text, or one as object")),
    }
}

#[cfg(test)]
mod tests {
    use fumehood::{BackendName, Bytes, TimeSpan};

    use super::*;

    fn request(
        method: fn(&mut Fields) -> Result<Request, Fault>,
        given: Value,
    ) -> Result<Request, Fault> {
        let Value::Object(values) = given else { panic!("an object") };
        let mut fields = Fields::of(values);
        let request = method(&mut fields)?;
        fields.end()?;
        Ok(request)
    }

    #[test]
    fn every_parameter_arrives_in_the_request() {
        let given = json!({
            "argv": ["ls"], "stdin": {"base64": "/w=="}, "env": {"A": "1"},
            "workspace": {"directory": "src", "mode": "overlay"},
            "mounts": [{"source": "/x", "target": "/y", "access": "rw"}],
            "volumes": {"cache": "/c"}, "datasets": {"iris": "i.csv"}, "deps": "d",
            "candidate": "c.zip", "git": "rw", "network": "localhost", "backend": "local",
            "timeout": 2, "memory": "1m", "pids": 7, "no_ledger": true, "policy_file": "p.yaml",
        });
        let request = request(of_exec, given).unwrap();
        assert_eq!(request.stdin, StdinSource::Bytes(vec![0xff]));
        assert_eq!(request.env["A"], "1");
        let mode = Some(WorkspaceMode::Overlay);
        assert_eq!(request.workspace, Some(Workspace { directory: "src".into(), mode }));
        assert_eq!(request.mounts, [Mount::read_write("/x", "/y")]);
        assert_eq!(request.volumes[0].name.as_str(), "cache");
        assert_eq!(request.datasets[0].path, PathBuf::from("i.csv"));
        assert_eq!(request.git, Some(GitAccess::ReadWrite));
        assert_eq!(request.network, Some(NetMode::Localhost));
        assert_eq!(request.backend, Some(BackendName::Local.into()));
        assert_eq!(request.limits.timeout, Some(TimeSpan::from_secs(2)));
        assert_eq!(request.limits.memory, Some(Bytes::mib(1)));
        assert_eq!(request.limits.pids, Some(7));
        assert!(request.unrecorded);
        assert_eq!(request.policy, PolicyChoice::File("p.yaml".into()));
    }

    #[test]
    fn the_language_is_named_or_seen() {
        let language = |given| match request(of_run, given).map(|request| request.program) {
            Ok(Program::Code { language, .. }) => Ok(language),
            Ok(Program::Command { .. } | Program::Helper { .. }) => panic!("code was given"),
            Err(fault) => Err(fault.code()),
        };
        assert_eq!(language(json!({"code": "1", "language": "go"})), Ok("go".into()));
        assert_eq!(language(json!({"code": "1", "file_name": "a.rs"})), Ok("rust".into()));
        assert_eq!(language(json!({"code": "1"})), Err(-32602));
        assert_eq!(language(json!({"language": "go"})), Err(-32602));
    }

    #[test]
    fn a_policy_is_a_profile_a_text_or_an_object() {
        let policy = |given: Value| {
            let request = request(of_run, json!({"code": "1", "language": "go", "policy": given}));
            request.map(|request| (request.policy, request.overrides.map(|policy| policy.text)))
        };
        let (choice, text) = policy(json!("strict")).unwrap();
        assert_eq!((choice, text), (PolicyChoice::Profile(ProfileName::Strict), None));
        let (choice, text) = policy(json!("version: 1\n")).unwrap();
        assert!(matches!(choice, PolicyChoice::Discover { .. }));
        assert_eq!(text.as_deref(), Some("version: 1\n"));
        let (_, text) = policy(json!({"net": {"mode": "none"}})).unwrap();
        assert!(text.unwrap().contains("\"version\": 1"));
        assert_eq!(policy(json!("strct")).unwrap_err().code(), -32000);
        assert_eq!(policy(json!(7)).unwrap_err().code(), -32602);
    }

    #[test]
    fn files_make_the_workspace_of_exec_private() {
        let given = request(of_exec, json!({"argv": ["ls"], "files": {"a": "b"}})).unwrap();
        assert_eq!(given.workspace, None);
        assert!(request(of_exec, json!({"argv": ["ls"]})).unwrap().workspace.is_some());
        let given = request(of_exec, json!({"argv": ["ls"], "workspace": false})).unwrap();
        assert_eq!(given.workspace, None);
    }
}
