//! The table in README.md is `scenarios::differences`.

use scenarios::differences::ALL;

#[test]
fn the_table_of_differences_is_in_the_readme() {
    let readme = include_str!("../README.md");
    let (_, rest) = readme.split_once("<!-- differences begin -->\n").expect("a table begins");
    let (table, _) = rest.split_once("<!-- differences end -->").expect("the table ends");
    let mut expected = String::from("| what | bundled | upstream | why |\n|---|---|---|---|\n");
    for (name, difference) in ALL {
        let what = name.to_lowercase().replace('_', " ");
        let list = |values: &[u32]| match values {
            [] => String::from("not tried"),
            _ => values.iter().map(|v| format!("{v:#x}")).collect::<Vec<_>>().join(" or "),
        };
        let (bundled, upstream) = (list(difference.bundled), list(difference.upstream));
        expected += &format!("| {what} | {bundled} | {upstream} | {} |\n", difference.why);
    }
    assert_eq!(table, expected, "README.md should have this table:\n{expected}");
}
