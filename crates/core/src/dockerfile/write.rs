//! The text of a Dockerfile: stages, comments and the last lines of the stage that runs.

use super::{
    base::{Base, USER, install, make_user},
    part::Part,
    recipe::{Command, Recipe, Role, Runtime, Step},
};

/// Comments are no wider than this.
const WIDTH: usize = 100;

const HEAD: &str = "Made by `fumehood bootstrap`. It is yours now: change what does not fit.";

/// The whole file. Frontends come before programs.
pub(super) fn dockerfile(made: &[(Part, Recipe)]) -> String {
    let mut text = Text::default();
    text.comment(HEAD);
    for (part, recipe) in made {
        text.build_stages(part, recipe);
    }
    let is_program = |(_, recipe): &&(Part, Recipe)| recipe.role == Role::Program;
    let programs: Vec<&(Part, Recipe)> = made.iter().filter(is_program).collect();
    let all: Vec<&(Part, Recipe)> = made.iter().collect();
    let runners = if programs.is_empty() { all } else { programs };
    match runners.as_slice() {
        [(part, recipe)] => text.run_stage(part, recipe, None),
        several => {
            for (part, recipe) in several {
                text.run_stage(part, recipe, Some(&part.name));
            }
            text.last_stage(several);
        }
    }
    text.0
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    fn gap(&mut self) {
        self.0.push('\n');
    }

    /// A comment, broken into lines. Whatever it quotes cannot leave it.
    fn comment(&mut self, text: &str) {
        let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let mut line = String::from("#");
        for word in clean.split(' ').filter(|word| !word.is_empty()) {
            if line.len() > 1 && line.chars().count() + 1 + word.chars().count() > WIDTH {
                self.line(&line);
                line = String::from("#");
            }
            line.push(' ');
            line.push_str(word);
        }
        self.line(&line);
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Comment(text) => self.comment(text),
                Step::Do(text) => self.line(text),
            }
        }
    }

    fn build_stages(&mut self, part: &Part, recipe: &Recipe) {
        for (index, stage) in recipe.stages.iter().enumerate() {
            self.gap();
            if index == 0 {
                self.reasons(part, recipe);
            }
            stage.notes.iter().for_each(|note| self.comment(note));
            self.line(&format!("FROM {} AS {}", stage.image, stage.name));
            self.steps(&stage.steps.0);
        }
    }

    fn reasons(&mut self, part: &Part, recipe: &Recipe) {
        match part.dir.as_str() {
            _ if part.alone => {}
            "" => self.comment(&format!("The part {}, in the root of the project.", part.name)),
            dir => self.comment(&format!("The part {}, in {dir}.", part.name)),
        }
        let Recipe { language, pin, base, .. } = recipe;
        self.comment(&format!("{language} {}: {}.", pin.version, pin.source));
        self.comment(&format!("{}: {}.", base.base, base.reason));
    }

    fn run_stage(&mut self, part: &Part, recipe: &Recipe, name: Option<&str>) {
        let runtime = &recipe.runtime;
        let base = base_of(runtime, recipe);
        self.gap();
        if recipe.stages.is_empty() {
            self.reasons(part, recipe);
        }
        runtime.notes.iter().for_each(|note| self.comment(note));
        match name {
            Some(name) => self.line(&format!("FROM {} AS {name}", runtime.image)),
            None => self.line(&format!("FROM {}", runtime.image)),
        }
        install(base, &runtime.packages).iter().for_each(|run| self.line(run));
        self.line(&make_user(base));
        self.line("WORKDIR /app");
        let variables: Vec<String> =
            runtime.variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !variables.is_empty() {
            self.line(&format!("ENV {}", variables.join(" ")));
        }
        self.steps(&runtime.contents.0);
        if !part.assets.is_empty() && !recipe.carries_assets {
            self.comment("The files of the frontend, for the program to serve.");
            part.assets.iter().for_each(|assets| self.line(&assets.copy(&part.dir)));
        }
        self.line(&format!("USER {USER}:{USER}"));
        self.command(runtime);
    }

    fn command(&mut self, runtime: &Runtime) {
        if let Some(port) = runtime.port {
            self.line(&format!("EXPOSE {port}"));
        }
        match &runtime.command {
            Command::Start { arguments, because } => {
                self.comment(&format!("A guess: {because}."));
                // A program of the project takes further arguments; an interpreter does not.
                let own = matches!(arguments.as_slice(), [only] if only.starts_with("/app/"));
                let instruction = if own { "ENTRYPOINT" } else { "CMD" };
                self.line(&format!("{instruction} {}", exec_form(arguments)));
            }
            Command::Unknown { because } => {
                self.comment(&format!("It could not be decided what to run: {because}."));
                self.comment("Write the command of your program here.");
                self.line(&format!(
                    "CMD {}",
                    say_and_fail("It is not known what to run: set CMD in the Dockerfile.")
                ));
            }
        }
    }

    /// Where there are several programs: all of them, and a command that asks which.
    fn last_stage(&mut self, several: &[&(Part, Recipe)]) {
        let names: Vec<&str> = several.iter().map(|(part, _)| part.name.as_str()).collect();
        let needs_runtime = |recipe: &Recipe| {
            let image = &recipe.runtime.image;
            !image.starts_with("alpine:") && !image.starts_with("debian:")
        };
        let first = several.iter().find(|(_, recipe)| needs_runtime(recipe)).or(several.first());
        let Some((ground, _)) = first else { return };
        self.gap();
        self.comment(&format!(
            "It could not be decided which of {} to run. `docker build --target NAME .` makes an image of one of them. This last stage is {} with the others in directories of their own.",
            names.join(", "),
            ground.name,
        ));
        self.line(&format!("FROM {}", ground.name));
        for name in names.iter().filter(|name| **name != ground.name) {
            self.line(&format!("COPY --from={name} /app/ ./{name}/"));
        }
        self.line("ENTRYPOINT []");
        let question = format!(
            "This image holds {}: set CMD in the Dockerfile, or build one with --target NAME.",
            names.join(", ")
        );
        self.line(&format!("CMD {}", say_and_fail(&question)));
    }
}

/// The family of the final image, which for files alone is Alpine in any case.
fn base_of(runtime: &Runtime, recipe: &Recipe) -> Base {
    if runtime.image.starts_with("alpine:") { Base::Alpine } else { recipe.base.base }
}

/// Arguments as the JSON that needs no shell.
fn exec_form<S: AsRef<str>>(arguments: &[S]) -> String {
    let quoted: Vec<String> = arguments
        .iter()
        .map(|argument| serde_json::Value::from(argument.as_ref()).to_string())
        .collect();
    format!("[{}]", quoted.join(", "))
}

/// A command that says a sentence without quotes in it, and fails.
fn say_and_fail(sentence: &str) -> String {
    exec_form(&["sh", "-c", &format!("echo '{sentence}' >&2; exit 1")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_cannot_become_an_instruction() {
        let mut text = Text::default();
        text.comment("one\nRUN evil\r\u{85}two");
        assert_eq!(text.0, "# one RUN evil two\n");
    }

    #[test]
    fn long_comments_are_broken() {
        let mut text = Text::default();
        text.comment(&"word ".repeat(50));
        assert!(text.0.lines().count() > 1);
        assert!(text.0.lines().all(|line| line.starts_with("# word") && line.len() <= WIDTH));
    }

    #[test]
    fn arguments_are_quoted() {
        assert_eq!(exec_form(&["a", "b\"\n"]), r#"["a", "b\"\n"]"#);
    }
}
