//! Gives the shared library the name by which programs ask for it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Versions 0.x.y with the same x are compatible.
    let major = env!("CARGO_PKG_VERSION_MAJOR");
    let minor = env!("CARGO_PKG_VERSION_MINOR");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libpetrov.so.{major}.{minor}");
    }
}
