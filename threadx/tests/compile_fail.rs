//! What the types rule out: each file in `ui/` must fail to compile, for the reason in its `.stderr`.

#[test]
fn misuse_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
