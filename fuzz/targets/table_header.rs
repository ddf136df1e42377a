//! Headers of tables with magic, version, length and checksum made right, so that the fields themselves are
//! read. What is accepted is written back to the byte.
#![no_main]

use libfuzzer_sys::fuzz_target;
use petrov_probe::format::{Header, MAGIC, VERSION};

fuzz_target!(|fields: &[u8]| {
    let mut bytes = Vec::with_capacity(fields.len() + 18);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((fields.len() as u32 + 18).to_le_bytes());
    bytes.extend(fields);
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    if let Ok(header) = Header::parse(&bytes) {
        assert_eq!(header.encode(), bytes);
    }
    // And as they come: nearly all end at a checksum.
    let _ = Header::parse(fields);
});
