//! Which addresses are on the public internet.
//!
//! The ranges are those of IANA's special-purpose registries, read the way Python's `is_global` reads them, and on
//! the safe side of it: multicast and the retired 6to4 relays are refused too, and an IPv6 address that carries an
//! IPv4 one (mapped, compatible, NAT64) is judged by the address it carries.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 ranges that are not public: first address and prefix length.
const SPECIAL_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8),       // this network
    (Ipv4Addr::new(10, 0, 0, 0), 8),      // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),   // carrier-grade NAT
    (Ipv4Addr::new(127, 0, 0, 0), 8),     // loopback
    (Ipv4Addr::new(169, 254, 0, 0), 16),  // link local, cloud metadata
    (Ipv4Addr::new(172, 16, 0, 0), 12),   // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),    // protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0), 24),    // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24),  // 6to4 relays, retired
    (Ipv4Addr::new(192, 168, 0, 0), 16),  // private
    (Ipv4Addr::new(198, 18, 0, 0), 15),   // benchmarking
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),  // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4),     // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4),     // reserved, broadcast
];

/// The only IPv6 block that is handed out for the public internet.
const PUBLIC_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Parts of [`PUBLIC_V6`] that are not public.
const SPECIAL_V6: &[(Ipv6Addr, u32)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocol assignments, Teredo
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

/// IPv6 blocks whose last 32 bits are an IPv4 address.
const CARRIES_V4: &[(Ipv6Addr, u32)] = &[
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96), // mapped
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0, 0), 96),      // compatible, retired
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96), // NAT64
];

/// True for an address that is reachable on the public internet, for one machine.
pub fn is_global(address: IpAddr) -> bool {
    match unwrap_v4(address) {
        IpAddr::V4(ip) => !SPECIAL_V4.iter().any(|&block| in_v4(ip, block)),
        IpAddr::V6(ip) => in_v6(ip, PUBLIC_V6) && !SPECIAL_V6.iter().any(|&block| in_v6(ip, block)),
    }
}

/// The IPv4 address that an IPv6 address carries; any other address as it is.
pub(super) fn unwrap_v4(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(ip) if CARRIES_V4.iter().any(|&block| in_v6(ip, block)) => {
            let [.., a, b, c, d] = ip.octets();
            IpAddr::V4(Ipv4Addr::new(a, b, c, d))
        }
        other => other,
    }
}

fn in_v4(ip: Ipv4Addr, (first, prefix): (Ipv4Addr, u32)) -> bool {
    (ip.to_bits() ^ first.to_bits()) >> (32 - prefix) == 0
}

fn in_v6(ip: Ipv6Addr, (first, prefix): (Ipv6Addr, u32)) -> bool {
    (ip.to_bits() ^ first.to_bits()) >> (128 - prefix) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_ends_of_every_special_range_are_refused_and_their_neighbours_judged() {
        let refused = [
            "0.0.0.0",
            "0.255.255.255",
            "10.0.0.0",
            "10.255.255.255",
            "100.64.0.0",
            "100.127.255.255",
            "127.0.0.0",
            "127.255.255.255",
            "169.254.0.0",
            "169.254.169.254",
            "169.254.255.255",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.0",
            "192.0.0.170",
            "192.0.0.255",
            "192.0.2.0",
            "192.0.2.255",
            "192.88.99.0",
            "192.88.99.255",
            "192.168.0.0",
            "192.168.255.255",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.0",
            "198.51.100.255",
            "203.0.113.0",
            "203.0.113.255",
            "224.0.0.0",
            "239.255.255.255",
            "240.0.0.0",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:10.0.0.1",
            "::10.0.0.1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "100::",
            "100::1",
            "2001::",
            "2001:0:1::1",
            "2001:1ff:ffff::1",
            "2001:db8::",
            "2001:db8:ffff::1",
            "2002::",
            "2002:808:808::1",
            "3fff::",
            "3fff:fff::1",
            "fc00::",
            "fd12::1",
            "fdff:ffff::1",
            "fe80::",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "4000::1",
            "1fff::1",
        ];
        for text in refused {
            assert!(!is_global(text.parse().unwrap()), "{text} passed");
        }
        let public = [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.88.98.255",
            "192.88.100.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255",
            "198.51.101.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "8.8.8.8",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2001:db9::1",
            "2003::1",
            "2606:4700::1111",
            "3ffe:ffff::1",
            "3fff:1000::1",
        ];
        for text in public {
            assert!(is_global(text.parse().unwrap()), "{text} was refused");
        }
    }

    /// An address of a special range, by a way of counting that shares nothing with the code above.
    fn special_v4() -> impl Strategy<Value = Ipv4Addr> {
        let octet = any::<u8>;
        prop_oneof![
            (
                prop_oneof![Just(0u8), Just(10), Just(127)],
                octet(),
                octet(),
                octet()
            ),
            (Just(100u8), 64u8..128, octet(), octet()),
            (Just(169u8), Just(254u8), octet(), octet()),
            (Just(172u8), 16u8..32, octet(), octet()),
            (Just(192u8), Just(168u8), octet(), octet()),
            (
                Just(192u8),
                Just(0u8),
                prop_oneof![Just(0u8), Just(2)],
                octet()
            ),
            (Just(198u8), 18u8..20, octet(), octet()),
            (Just(198u8), Just(51u8), Just(100u8), octet()),
            (Just(203u8), Just(0u8), Just(113u8), octet()),
            (224u8..=255, octet(), octet(), octet()),
        ]
        .prop_map(|(a, b, c, d)| Ipv4Addr::new(a, b, c, d))
    }

    proptest! {
        #[test]
        fn no_special_address_passes_bare_or_wrapped(ip in special_v4()) {
            prop_assert!(!is_global(ip.into()));
            prop_assert!(!is_global(ip.to_ipv6_mapped().into()));
            prop_assert!(!is_global(ip.to_ipv6_compatible().into()));
            let [a, b, c, d] = ip.octets();
            let nat64 = Ipv6Addr::new(
                0x64, 0xff9b, 0, 0, 0, 0,
                u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]),
            );
            prop_assert!(!is_global(nat64.into()));
        }

        #[test]
        fn only_the_handed_out_block_of_ipv6_passes(bits in any::<u128>()) {
            let ip = Ipv6Addr::from_bits(bits);
            if is_global(ip.into()) {
                let carries = ip.to_ipv4_mapped().is_some() || bits >> 32 == 0 || bits >> 32 == 0x64_ff9b << 64;
                prop_assert!(bits >> 125 == 0b001 || carries);
            }
        }
    }
}
