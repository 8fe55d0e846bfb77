//! Addresses and ranges of addresses.

use std::fmt;
use std::net::IpAddr;

use super::{Function, Result};
use crate::cel::EvalError;
use crate::cel::value::Value;

/// An address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ip(IpAddr);

/// A range of addresses, such as `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cidr {
    ip: IpAddr,
    bits: u8,
}

impl Ip {
    /// Reads an address; one of IPv4 within IPv6 is refused, as in Kubernetes.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let ip: IpAddr = text.parse().ok()?;
        let is_mapped = matches!(ip, IpAddr::V6(it) if it.to_ipv4_mapped().is_some());
        (!is_mapped).then_some(Self(ip))
    }
}

impl Cidr {
    /// Reads a range.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (ip, bits) = text.split_once('/')?;
        let ip = Ip::parse(ip)?.0;
        let plain = bits.bytes().all(|it| it.is_ascii_digit()) && (bits == "0" || !bits.starts_with('0'));
        let bits: u8 = bits.parse().ok()?;
        (plain && bits <= width(ip)).then_some(Self { ip, bits })
    }

    fn masked(self) -> Self {
        let ip = match self.ip {
            IpAddr::V4(ip) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V4((u32::from(ip) & mask).into())
            }
            IpAddr::V6(ip) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V6((u128::from(ip) & mask).into())
            }
        };
        Self { ip, bits: self.bits }
    }

    fn contains(self, ip: IpAddr) -> bool {
        width(ip) == width(self.ip) && Self { ip, bits: self.bits }.masked().ip == self.masked().ip
    }
}

fn width(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { 32 } else { 128 }
}

impl fmt::Display for Ip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.bits)
    }
}

pub(super) fn read<'a>(function: Function, of: &Value<'a>) -> Result<'a> {
    if let (Function::ToIp, Value::Cidr(range)) = (function, of) {
        return Ok(Value::Ip(Ip(range.ip)));
    }
    let text = of.as_str().ok_or_else(EvalError::overload)?;
    let no_ip = || EvalError::wrong(format!("IP Address {text:?} parse error during conversion from string"));
    Ok(match function {
        Function::IsIp => Value::Bool(Ip::parse(text).is_some()),
        Function::IsCidr => Value::Bool(Cidr::parse(text).is_some()),
        Function::ToIp => Value::Ip(Ip::parse(text).ok_or_else(no_ip)?),
        Function::IpIsCanonical => Value::Bool(Ip::parse(text).ok_or_else(no_ip)?.to_string() == text),
        _ => Value::Cidr(Cidr::parse(text).ok_or_else(|| {
            EvalError::wrong(format!("network address parse error during conversion from string: {text:?}"))
        })?),
    })
}

pub(super) fn call<'a>(function: Function, of: &Value<'a>, rest: &[Value<'a>]) -> Result<'a> {
    use Function as F;

    let range = || match rest.first() {
        Some(Value::Cidr(it)) => Ok(*it),
        Some(Value::Text(it)) => Cidr::parse(it.as_str()).ok_or_else(EvalError::overload),
        _ => Err(EvalError::overload()),
    };
    let address = || match rest.first() {
        Some(Value::Ip(it)) => Ok(it.0),
        Some(Value::Text(it)) => Ip::parse(it.as_str()).map(|it| it.0).ok_or_else(EvalError::overload),
        _ => Err(EvalError::overload()),
    };
    Ok(match (function, of) {
        (F::IpFamily, Value::Ip(ip)) => Value::Int(if ip.0.is_ipv4() { 4 } else { 6 }),
        (F::IsLoopback, Value::Ip(ip)) => Value::Bool(ip.0.is_loopback()),
        (F::IsUnspecified, Value::Ip(ip)) => Value::Bool(ip.0.is_unspecified()),
        (F::IsGlobalUnicast, Value::Ip(ip)) => {
            let special = ip.0.is_loopback() || ip.0.is_unspecified() || ip.0.is_multicast();
            Value::Bool(!special)
        }
        (F::IpOfCidr, Value::Cidr(it)) => Value::Ip(Ip(it.ip)),
        (F::PrefixLength, Value::Cidr(it)) => Value::Int(it.bits.into()),
        (F::Masked, Value::Cidr(it)) => Value::Cidr(it.masked()),
        (F::ContainsIp, Value::Cidr(it)) => Value::Bool(it.contains(address()?)),
        (F::ContainsCidr, Value::Cidr(it)) => {
            let other = range()?;
            Value::Bool(other.bits >= it.bits && it.contains(other.ip))
        }
        _ => return Err(EvalError::overload()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_contain_addresses() {
        let range = Cidr::parse("10.1.2.3/16").unwrap();
        assert_eq!(range.masked().to_string(), "10.1.0.0/16");
        assert!(range.contains("10.1.255.1".parse().unwrap()));
        assert!(!range.contains("10.2.0.1".parse().unwrap()) && !range.contains("::1".parse().unwrap()));
        assert!(Cidr::parse("0.0.0.0/0").unwrap().contains("1.2.3.4".parse().unwrap()));
        for wrong in ["10.0.0.0", "10.0.0.0/33", "10.0.0.0/08", "x/8", "10.0.0.0/", "::ffff:1.2.3.4/8"] {
            assert_eq!(Cidr::parse(wrong), None, "{wrong}");
        }
    }
}
