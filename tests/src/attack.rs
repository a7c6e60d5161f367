//! An attack and its twin: a refusal proves something only if the same program can tell when
//! nothing refuses it.

use std::sync::Arc;

use fumehood::{Layer, Outcome, Request};

use crate::{Case, Condition, Scene};

/// Where an attack must reach further than in a whole box.
#[derive(Clone, Copy)]
pub enum Weaker {
    /// In a box that lacks these layers.
    Without(&'static [Layer]),
    /// On the backend that isolates nothing. For layers that no box can be built without.
    NoBox,
    /// The same, where the attack needs root even then.
    NoBoxAsRoot,
}

type Expectation = Arc<dyn Fn(&Scene, &Outcome) + Send + Sync>;

/// A program that tries something it must not get.
pub struct Attack {
    name: String,
    request: Arc<dyn Fn(&Scene) -> Request + Send + Sync>,
    cases: Vec<Case>,
}

impl Attack {
    /// An attack and what it must get in a whole box.
    pub fn new(
        name: impl Into<String>,
        request: impl Fn(&Scene) -> Request + Send + Sync + 'static,
        stopped: impl Fn(&Scene, &Outcome) + Send + Sync + 'static,
    ) -> Attack {
        let (name, request) = (name.into(), Arc::new(request));
        let attempt = request.clone();
        let whole =
            Case::new(name.clone(), move |scene| attempt(scene), stopped).only(Condition::ISOLATED);
        Attack { name, request, cases: vec![whole] }
    }

    /// What the same attack must get where a layer is off.
    #[must_use]
    pub fn twin(
        mut self,
        weaker: Weaker,
        reached: impl Fn(&Scene, &Outcome) + Send + Sync + 'static,
    ) -> Attack {
        let (request, reached): (_, Expectation) = (self.request.clone(), Arc::new(reached));
        let twin = match weaker {
            Weaker::Without(layers) => {
                let names: Vec<&str> = layers.iter().map(|layer| layer.name()).collect();
                let name = format!("{}::without_{}", self.name, names.join("_"));
                Case::steps(name, move |scene| {
                    let outcome = scene.run_without(request(scene), layers);
                    reached(scene, &outcome);
                })
                .only(Condition::ISOLATED)
            }
            Weaker::NoBox | Weaker::NoBoxAsRoot => {
                let name = format!("{}::without_box", self.name);
                let twin = Case::new(name, move |scene| request(scene), move |s, o| reached(s, o))
                    .only(Condition::NOT_ISOLATED);
                match weaker {
                    Weaker::NoBoxAsRoot => twin.only(Condition::AS_ROOT),
                    _ => twin,
                }
            }
        };
        self.cases.push(twin);
        self
    }

    /// The attack and its twins as cases.
    pub fn cases(self) -> Vec<Case> {
        self.cases
    }
}
