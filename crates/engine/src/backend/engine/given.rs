//! What an engine is asked for, in the words of the layers. Init corrects what it finds otherwise.

use fumehood_core::protocol::{CoverKind, Report};

use super::create::Covered;
use crate::{BackendName, BoxPlan, Layer, Network, Strength};

/// The layers that the engine gives.
pub(super) fn reports(
    plan: &BoxPlan,
    engine: BackendName,
    covered: &[Covered],
    detail_of_root: &str,
) -> Vec<Report> {
    let network = match plan.network {
        Network::None => "network none",
        Network::Localhost => "network none, which has a loopback of its own",
    };
    let count = |kind| covered.iter().filter(|cover| cover.kind == kind).count();
    let (hidden, protected) = (count(CoverKind::Hidden), count(CoverKind::Protected));
    let full = |layer, detail: &str| (layer, Strength::Full, detail.to_owned());
    let all = [
        full(Layer::MountNamespace, detail_of_root),
        full(Layer::PidNamespace, "the container's own, init is process 1"),
        full(Layer::NetNamespace, network),
        full(Layer::IpcNamespace, "the container's own"),
        full(Layer::UtsNamespace, "the container's own"),
        full(Layer::CgroupNamespace, "the container's own"),
        full(Layer::ReadOnlyRoot, "read-only root of the container"),
        full(Layer::CoveredPaths, &format!("{hidden} hidden, {protected} protected")),
        disk(engine),
    ];
    all.into_iter()
        .filter(|(layer, ..)| !plan.without.contains(layer))
        .map(|(layer, strength, detail)| Report { layer, strength, detail })
        .collect()
}

fn disk(engine: BackendName) -> (Layer, Strength, String) {
    let size = "a tmpfs of this size for each writable place, all within the memory limit";
    match engine {
        BackendName::Podman => {
            let detail = format!("{size}; podman does not bound the number of files");
            (Layer::Disk, Strength::BestEffort, detail)
        }
        _ => (Layer::Disk, Strength::Full, size.to_owned()),
    }
}
