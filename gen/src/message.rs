//! What ranks tell each other and what checkpoints say of themselves, as
//! bytes. Tables are never written this way.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Bytes that are not what they should be.
#[derive(Debug, thiserror::Error)]
#[error("not a message of this program: {0}")]
pub(crate) struct MessageError(#[from] bincode::error::DecodeError);

fn config() -> impl bincode::config::Config {
    // A length must not ask for memory without end. All that is read here was
    // written by this program, and files are checked before.
    bincode::config::standard().with_limit::<{ 1 << 36 }>()
}

/// A message, followed by bytes that are taken as they are.
pub(crate) fn encode(message: &impl Serialize, raw: &[&[u8]]) -> Vec<u8> {
    let mut bytes = bincode::serde::encode_to_vec(message, bincode::config::standard())
        .expect("plain structures in memory can always be encoded");
    bytes.reserve_exact(raw.iter().map(|raw| raw.len()).sum());
    raw.iter().for_each(|raw| bytes.extend_from_slice(raw));
    bytes
}

/// A message and the bytes that follow it.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), MessageError> {
    let (message, length) = bincode::serde::decode_from_slice(bytes, config())?;
    Ok((message, &bytes[length..]))
}
