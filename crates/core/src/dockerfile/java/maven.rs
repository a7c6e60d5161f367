//! Maven: what `pom.xml` says, and the stage that builds with it.

use super::{
    super::{
        files::plain_name,
        part::Part,
        recipe::{Command, Steps, run},
        version::{Mention, Pin},
    },
    Built,
};

const CACHE: &str = "target=/root/.m2";

/// Where a version may stand, strongest first.
const VERSION_TAGS: &[&str] = &[
    "maven.compiler.release",
    "release",
    "java.version",
    "maven.compiler.target",
    "maven.compiler.source",
    "target",
    "source",
];

/// The version that the compiler is told to make code for.
pub(super) fn version(part: &Part) -> Option<Mention> {
    let pom = without_comments(part.text("pom.xml")?);
    VERSION_TAGS.iter().find_map(|tag| {
        let (line, value) = element(&pom, tag)?;
        let numeric = value.chars().all(|c| c.is_ascii_digit() || c == '.') && !value.is_empty();
        let says = format!("<{tag}>{value}");
        numeric.then(|| Mention { path: part.shown("pom.xml"), line, says })
    })
}

pub(super) fn build(part: &Part, pin: &Pin, stage: &str) -> Built {
    let root = without_comments(part.text("pom.xml").unwrap_or(""));
    let mut steps = Steps::new().step("WORKDIR /app");
    if root.contains("<modules>") {
        steps =
            steps.note("The modules need each other, so nothing is fetched ahead of the build.");
    } else {
        steps = steps
            .steps(part.copy(&["pom.xml".to_owned()]))
            .step(run(&[CACHE], "mvn --batch-mode dependency:go-offline"));
    }
    let Finished { command, copies, start, port } = Program::find(part, root).finish(part, stage);
    let steps = steps.step(part.copy_all()).step(run(&[CACHE], &command));
    let image = format!("maven:3.9-eclipse-temurin-{}", pin.version);
    Built { image, steps, copies, command: start, port }
}

/// The module with the program.
struct Program {
    /// Its directory below the part; empty for the root.
    module: String,
    pom: String,
    packaging: Packaging,
}

impl Program {
    /// The first module, the root before all, that leaves something to start.
    fn find(part: &Part, root: String) -> Program {
        let has_modules = root.contains("<modules>");
        let packaging = if has_modules { Packaging::Unknown } else { Packaging::of(&root) };
        let mut nested = part.all().filter(|_| has_modules).filter_map(|(path, text)| {
            let module = path.strip_suffix("/pom.xml")?.to_owned();
            let pom = without_comments(text);
            match Packaging::of(&pom) {
                Packaging::Unknown => None,
                packaging => Some(Program { module, pom, packaging }),
            }
        });
        nested.next().unwrap_or(Program { module: String::new(), pom: root, packaging })
    }
}

/// What `mvn package` leaves.
enum Packaging {
    /// One jar with everything in it.
    Fat(&'static str),
    /// A directory that Quarkus starts from.
    Quarkus,
    /// A jar that needs its dependencies beside it; the class to start.
    Thin(String),
    /// Something that nobody here can start.
    Unknown,
}

impl Packaging {
    fn of(pom: &str) -> Packaging {
        let main = element(pom, "mainClass").map(|(_, class)| class.to_owned());
        if pom.contains("spring-boot-maven-plugin") {
            return Packaging::Fat("the plugin of Spring Boot");
        }
        if pom.contains("quarkus-maven-plugin") {
            return Packaging::Quarkus;
        }
        if pom.contains("maven-shade-plugin") {
            return Packaging::Fat("the shade plugin");
        }
        match main.filter(|class| is_class(class)) {
            Some(class) => Packaging::Thin(class),
            None => Packaging::Unknown,
        }
    }
}

/// The last command of the build, and what follows from it.
struct Finished {
    command: String,
    copies: Vec<String>,
    start: Command,
    port: Option<u16>,
}

impl Program {
    fn finish(self, part: &Part, stage: &str) -> Finished {
        let (prefix, only) = match self.module.as_str() {
            "" => (String::new(), String::new()),
            module => (format!("{module}/"), format!(" --projects {module} --also-make")),
        };
        let package = format!("mvn --batch-mode package -DskipTests{only}");
        let take = format!("install -D {prefix}{} /out/app.jar", jar(&self.pom));
        let copies = vec![format!("COPY --from={stage} /out/ ./")];
        let shown = part.shown(&format!("{prefix}pom.xml"));
        match self.packaging {
            Packaging::Fat(plugin) => Finished {
                command: format!("{package} \\\n    && {take}"),
                copies,
                start: Command::start(
                    &["java", "-jar", "app.jar"],
                    format!("{plugin} in {shown} makes one jar"),
                ),
                port: plugin.contains("Spring").then_some(8080),
            },
            Packaging::Quarkus => Finished {
                command: package,
                copies: vec![format!("COPY --from={stage} /app/{prefix}target/quarkus-app/ ./")],
                start: Command::start(
                    &["java", "-jar", "quarkus-run.jar"],
                    format!("the plugin of Quarkus in {shown}"),
                ),
                port: Some(8080),
            },
            Packaging::Thin(class) => Finished {
                command: format!(
                    "{package} dependency:copy-dependencies \\\n        -DincludeScope=runtime -DoutputDirectory=/out/lib \\\n    && {take}"
                ),
                copies,
                start: Command::start(
                    &["java", "-cp", "app.jar:lib/*", &class],
                    format!("<mainClass> in {shown}"),
                ),
                port: None,
            },
            Packaging::Unknown => Finished {
                command: format!(
                    "{package} \\\n    && mkdir /out \\\n    && find . -path '*/target/*.jar' -exec cp {{}} /out/ ';'"
                ),
                copies,
                start: Command::Unknown {
                    because: format!(
                        "{shown} names no <mainClass> and no plugin that makes a jar to start"
                    ),
                },
                port: None,
            },
        }
    }
}

/// The path of the jar: exact where the file says so.
fn jar(pom: &str) -> String {
    let own = own_elements(pom);
    let of =
        |tag: &str| element(&own, tag).and_then(|(_, value)| plain_name(value)).map(str::to_owned);
    let final_name = element(pom, "finalName").and_then(|(_, name)| plain_name(name));
    match (final_name, of("artifactId"), of("version")) {
        (Some(name), ..) => format!("target/{name}.jar"),
        (None, Some(artifact), Some(version)) => format!("target/{artifact}-{version}.jar"),
        (None, Some(artifact), None) => format!("target/{artifact}-*.jar"),
        _ => "target/*.jar".to_owned(),
    }
}

/// The project's own elements: without its parent, dependencies and plugins, which have the same.
fn own_elements(pom: &str) -> String {
    let mut text = pom.to_owned();
    for section in ["parent", "dependencies", "dependencyManagement", "build", "profiles"] {
        let (open, close) = (format!("<{section}>"), format!("</{section}>"));
        while let Some(start) = text.find(&open) {
            let end =
                text[start..].find(&close).map_or(text.len(), |end| start + end + close.len());
            text.replace_range(start..end, "");
        }
    }
    text
}

fn is_class(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._$".contains(c))
}

/// The first element of this name: its line and its text.
fn element<'a>(xml: &'a str, tag: &str) -> Option<(usize, &'a str)> {
    let open = format!("<{tag}>");
    let start = xml.find(&open)? + open.len();
    let end = start + xml[start..].find('<')?;
    Some((xml[..start].lines().count(), xml[start..end].trim()))
}

/// Comments become empty lines, so that lines keep their numbers.
fn without_comments(xml: &str) -> String {
    let mut text = String::with_capacity(xml.len());
    let mut rest = xml;
    while let Some((before, after)) = rest.split_once("<!--") {
        let (comment, after) = after.split_once("-->").unwrap_or((after, ""));
        text.push_str(before);
        text.extend(comment.chars().filter(|c| *c == '\n'));
        rest = after;
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_with_their_lines() {
        let pom = without_comments("<a>\n<!-- <v>1</v>\n -->\n<v> 2 </v></a>");
        assert_eq!(element(&pom, "v"), Some((4, "2")));
        assert_eq!(element(&pom, "w"), None);
    }

    #[test]
    fn the_jar_is_that_of_the_project_and_not_of_its_parent() {
        let pom = "<project><parent><artifactId>p</artifactId><version>3</version></parent>\
            <artifactId>a</artifactId>";
        assert_eq!(jar(&format!("{pom}<version>1.0</version>")), "target/a-1.0.jar");
        assert_eq!(jar(pom), "target/a-*.jar");
        let named = format!("{pom}<build><finalName>x</finalName></build>");
        assert_eq!(jar(&named), "target/x.jar");
    }
}
