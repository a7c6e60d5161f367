//! The layers of isolation, by the names that policies, outcomes and `doctor` use.

use core::fmt;

macro_rules! layers {
    ($($variant:ident = $number:literal, $name:literal, $doc:literal;)*) => {
        /// One layer of isolation. Each can be reported, required and shown off by an attack.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Layer { $(#[doc = $doc] $variant = $number,)* }

        impl Layer {
            /// Every layer, in the order in which a box is built.
            pub const ALL: &'static [Layer] = &[$(Layer::$variant,)*];

            /// The stable name used in outcomes and policies.
            pub const fn name(self) -> &'static str {
                match self { $(Layer::$variant => $name,)* }
            }

            /// What the layer does, in one sentence.
            pub const fn purpose(self) -> &'static str {
                match self { $(Layer::$variant => $doc,)* }
            }

            /// The layer with this number on the wire.
            pub const fn from_number(number: u8) -> Option<Layer> {
                match number { $($number => Some(Layer::$variant),)* _ => None }
            }
        }
    };
}

layers! {
    UserNamespace = 1, "user_namespace", "Box users are other users on the host, never its root.";
    MountNamespace = 2, "mount_namespace", "The box sees a root of its own and nothing else of the host.";
    PidNamespace = 3, "pid_namespace", "The box sees and signals only its own processes.";
    NetNamespace = 4, "net_namespace", "The box has no network interface but its own loopback.";
    IpcNamespace = 5, "ipc_namespace", "Shared memory and message queues are private.";
    UtsNamespace = 6, "uts_namespace", "Host name and domain are private.";
    CgroupNamespace = 7, "cgroup_namespace", "The cgroup tree of the host cannot be seen.";
    ReadOnlyRoot = 8, "read_only_root", "Everything but the named writable places is read-only.";
    Seccomp = 9, "seccomp", "Only listed system calls work.";
    Landlock = 10, "landlock", "A second wall behind the mounts.";
    Capabilities = 11, "capabilities", "No capability is left.";
    NoNewPrivileges = 12, "no_new_privileges", "Set-uid programs gain nothing.";
    Memory = 13, "memory_limit", "Memory is bounded, swap is off.";
    Cpu = 14, "cpu_limit", "Processor time is bounded.";
    Pids = 15, "pids_limit", "The number of processes is bounded.";
    Disk = 16, "disk_limit", "Writable space and inodes are bounded.";
    Files = 17, "file_limits", "Open files and file size are bounded, core dumps are off.";
    Descriptors = 18, "descriptors", "The program starts with descriptors 0 to 2 only.";
    CoveredPaths = 20, "covered_paths", "Denied paths cannot be read, protected ones cannot be changed.";
    Nesting = 19, "no_nested_namespaces", "No user namespace can be made inside.";
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How far a layer is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "std", serde(rename_all = "snake_case"))]
pub enum Strength {
    /// Enforced by the kernel.
    Full,
    /// Watched and acted upon, but a program can get past it for a moment.
    BestEffort,
    /// Not there.
    Off,
}

impl Strength {
    /// The number on the wire.
    pub const fn number(self) -> u8 {
        match self {
            Strength::Full => 2,
            Strength::BestEffort => 1,
            Strength::Off => 0,
        }
    }

    /// The strength with this number on the wire.
    pub const fn from_number(number: u8) -> Option<Strength> {
        match number {
            2 => Some(Strength::Full),
            1 => Some(Strength::BestEffort),
            0 => Some(Strength::Off),
            _ => None,
        }
    }
}

#[cfg(feature = "std")]
impl serde::Serialize for Layer {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(feature = "std")]
impl<'de> serde::Deserialize<'de> for Layer {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = <std::string::String as serde::Deserialize>::deserialize(deserializer)?;
        Layer::ALL
            .iter()
            .copied()
            .find(|layer| layer.name() == name)
            .ok_or_else(|| serde::de::Error::custom(std::format!("unknown layer `{name}`")))
    }
}
