//! Services that hand out credentials or act for whoever asks: cloud metadata, and the interfaces
//! of model providers. A wildcard never means them; a rule must name each.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Names, exactly.
const NAMES: &[&str] = &[
    // Cloud metadata.
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
    "metadata.packet.net",
    "metadata.platformequinix.com",
    // Model providers.
    "api.openai.com",
    "api.anthropic.com",
    "generativelanguage.googleapis.com",
    "aiplatform.googleapis.com",
    "api.mistral.ai",
    "api.cohere.ai",
    "api.cohere.com",
    "api.groq.com",
    "api.together.xyz",
    "api.together.ai",
    "openrouter.ai",
    "api.deepseek.com",
    "api.x.ai",
    "api.perplexity.ai",
    "api.fireworks.ai",
    "api.replicate.com",
    "api-inference.huggingface.co",
    "router.huggingface.co",
    "models.inference.ai.azure.com",
    "models.github.ai",
    "api.githubcopilot.com",
];

/// Names by how they begin and end, for services with a name per region or customer.
const FAMILIES: &[(&str, &str)] = &[
    ("", ".openai.azure.com"),
    ("", ".services.ai.azure.com"),
    ("", ".api.openai.com"),
    ("", ".endpoints.huggingface.cloud"),
    ("", "-aiplatform.googleapis.com"),
    ("bedrock", ".amazonaws.com"),
];

/// Addresses of cloud metadata.
const ADDRESSES: &[IpAddr] = &[
    // Most clouds, then containers and pods at Amazon.
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),
    // Tencent, Alibaba, Oracle, and the host agent of Azure, which has a public address.
    IpAddr::V4(Ipv4Addr::new(169, 254, 0, 23)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    // Amazon and Google by IPv6.
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
];

/// Whether a name, in lower case, is such a service.
pub(super) fn is_sensitive_name(name: &str) -> bool {
    NAMES.contains(&name)
        || FAMILIES.iter().any(|(start, end)| name.starts_with(start) && name.ends_with(end))
}

/// Whether an address is such a service.
pub(super) fn is_sensitive_address(address: IpAddr) -> bool {
    ADDRESSES.contains(&address)
}
