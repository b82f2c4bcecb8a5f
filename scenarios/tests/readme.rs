//! The table in README.md is `scenarios::differences`, and every field report about kernels and bindings is in the suite.

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

#[test]
fn every_field_report_about_kernels_and_bindings_has_a_scenario() {
    let reports = include_str!("../../docs/field-reports.md");
    let labels = reports.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |")).map(|(label, _)| label);
    let labels: Vec<_> = labels.filter(|label| label.starts_with(['K', 'B']) && label.len() == 3).collect();
    assert!(labels.len() > 25, "the table is read: {labels:?}");
    for label in labels {
        let prefix = format!("{}_", label.to_lowercase());
        assert!(scenarios::ALL.iter().any(|(name, _)| name.starts_with(&prefix)), "no scenario begins with {prefix}");
    }
}
