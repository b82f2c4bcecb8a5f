//! Plots as SVG and PNG, with the font in the program so that a machine without fonts draws text.

use std::path::Path;
use std::sync::Once;

use clap::ValueEnum;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{RGBColor, register_font};

use crate::builds::without_lto;
use crate::counterparts::counterpart;
use crate::published;
use crate::row::{Origin, Row, placed};

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Range, median and samples by memory and cache state.
    Distribution,
    /// Minimum and maximum by the placement of the code, one line a memory.
    Placement,
    /// Bars beside those of the published figures.
    Published,
}

impl Kind {
    /// All, in the order of the report.
    pub const ALL: [Self; 3] = [Self::Distribution, Self::Placement, Self::Published];

    /// Name of its files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Distribution => "distribution",
            Self::Placement => "placement",
            Self::Published => "published",
        }
    }

    /// Name of its file of a form, `svg` for example.
    pub fn file(self, form: &str) -> String {
        format!("{}.{form}", self.name())
    }

    /// What the reader sees below the plot of `rows`.
    pub fn caption(self, rows: &[Row]) -> String {
        match self {
            Self::Distribution => "Distribution by memory and cache state: samples, range and median".into(),
            Self::Placement => "Sweep by the placement of the timed code: minimum, and range up to the maximum".into(),
            Self::Published => {
                let drawn = "This run and the published figures, each on its own axis; where there is no bar, the table \
                             of counterparts says why";
                [vec![drawn.to_owned()], undrawn(rows)].concat().join("; ")
            }
        }
    }
}

type Area<'a, DB> = DrawingArea<DB, Shift>;
type Drawn = Result<(), String>;

const WIDTH: u32 = 960;
const FONT: &str = "sans-serif";
const INK: RGBColor = RGBColor(34, 34, 34);
const FAINT: RGBColor = RGBColor(225, 225, 225);
/// Colours that stay apart for colour-blind readers (Okabe and Ito).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];
/// Samples drawn of one series.
const DOTS: usize = 128;

fn fonts() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // It refuses fonts that it cannot read; these are part of the program and a test draws with them.
        let _ = register_font(FONT, FontStyle::Normal, dejavu::sans_condensed::regular());
        let _ = register_font(FONT, FontStyle::Bold, dejavu::sans_condensed::bold());
    });
}

/// One panel of a plot.
enum Panel {
    Ranges { title: String, unit: String, items: Vec<Range> },
    Sweep { title: String, unit: String, about: &'static str, lines: Vec<Line> },
    Bars { title: String, sides: Vec<Side> },
}

/// Two lines of heading and its bars: label, length, none where there is no counterpart, and colour.
type Side = ([String; 2], Vec<(String, Option<u64>, usize)>);

struct Range {
    label: String,
    colour: usize,
    min: u64,
    mid: u64,
    max: u64,
    samples: Vec<u64>,
}

struct Line {
    label: String,
    colour: usize,
    points: Vec<(u32, u64, u64)>,
}

impl Panel {
    fn height(&self) -> u32 {
        match self {
            Self::Ranges { items, .. } => 84 + 26 * items.len() as u32,
            Self::Sweep { .. } => 280,
            Self::Bars { sides, .. } => 94 + 22 * sides.iter().map(|(_, bars)| bars.len()).max().unwrap_or(0) as u32,
        }
    }
}

/// Whether `rows` have something to draw of this kind.
pub fn has(kind: Kind, rows: &[Row]) -> bool {
    !panels(kind, rows).is_empty()
}

/// Whether a file's bytes are an SVG of [`svg`].
pub fn is_svg(bytes: &[u8]) -> bool {
    bytes.starts_with(format!("<svg width=\"{WIDTH}\" ").as_bytes())
}

/// Whether a file's bytes are a PNG of [`png`]: its signature, and the width where its header has it.
pub fn is_png(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.get(16..20) == Some(&WIDTH.to_be_bytes())
}

/// As the text of an SVG file.
///
/// # Errors
/// Nothing to draw, or what the drawing library says.
pub fn svg(kind: Kind, rows: &[Row]) -> Result<String, String> {
    let (panels, height) = prepared(kind, rows)?;
    let mut text = String::new();
    draw(&SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area(), &panels)?;
    Ok(text)
}

/// Into a PNG file.
///
/// # Errors
/// Nothing to draw, or the file cannot be written.
pub fn png(kind: Kind, rows: &[Row], path: &Path) -> Result<(), String> {
    let (panels, height) = prepared(kind, rows)?;
    draw(&BitMapBackend::new(path, (WIDTH, height)).into_drawing_area(), &panels)
        .map_err(|e| format!("cannot write {}: {e}", path.display()))
}

fn prepared(kind: Kind, rows: &[Row]) -> Result<(Vec<Panel>, u32), String> {
    fonts();
    let panels = panels(kind, rows);
    if panels.is_empty() {
        return Err(match kind {
            Kind::Distribution => "nothing to draw: no row has a minimum and a maximum".into(),
            Kind::Placement => no_sweep(rows),
            Kind::Published => "nothing to draw: no row has a published counterpart".into(),
        });
    }
    let height = panels.iter().map(Panel::height).sum();
    Ok((panels, height))
}

/// Why there is no sweep by placement.
fn no_sweep(rows: &[Row]) -> String {
    let known: Vec<&Row> = rows.iter().filter(drawn).filter(|row| row.placement.is_some()).collect();
    if known.is_empty() {
        return "nothing to draw: no result says where its timed code lies in the line".into();
    }
    if known.iter().all(|row| row.cache != "cold") {
        return "nothing to draw: the sweep is of a cold cache, and no result with a placement is".into();
    }
    "nothing to draw: no result with a cold cache is there at two placements of its code".into()
}

fn panels(kind: Kind, rows: &[Row]) -> Vec<Panel> {
    match kind {
        Kind::Distribution => distribution(rows),
        Kind::Placement => placement(rows),
        Kind::Published => against_published(rows),
    }
}

/// Whether a row is for a plot: not of a test of the method itself, of the first run of its cell, and of a
/// measurement whose sub-cases are few. Tables have the others.
fn drawn(row: &&Row) -> bool {
    !row.of_self_test()
        && row.repeat.is_none_or(|n| n == 1)
        && row.bench != "service"
        && (row.bench != "deep_stack" || matches!(row.detail.as_str(), "" | "24x16"))
        && row.min.is_some()
}

/// Rows that belong into one panel: the same measurement, of the same kind and unit.
fn families(rows: &[Row], key: impl Fn(&Row) -> Vec<String>) -> Vec<Vec<&Row>> {
    let mut families: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        match families.iter_mut().find(|family| key(family[0]) == key(row)) {
            Some(family) => family.push(row),
            None => families.push(vec![row]),
        }
    }
    families
}

fn title(row: &Row) -> String {
    let tick = if row.tick == "off" { "tick off" } else { "" };
    let parts =
        [row.bench.as_str(), &row.detail, &row.variant, &row.kernel, &row.board, &lto(row), tick, row.origin.name()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn lto(row: &Row) -> String {
    if row.lto.is_empty() { String::new() } else { format!("LTO {}", row.lto) }
}

fn measurement(row: &Row) -> Vec<String> {
    let detail = if row.bench == "host_flip" { String::new() } else { row.detail.clone() };
    let texts = [&row.bench, &detail, &row.variant, &row.kernel, &row.board, &row.unit, &row.lto, &row.language];
    let more = [&row.checks, &row.opt, &row.options, &row.assertions, &row.compiler, &row.tick];
    texts.into_iter().chain(more).cloned().chain([row.origin.name().into()]).collect()
}

/// What tells the rows of a panel apart beside memory and cache state, in words; nothing where all have the same.
fn beside(family: &[&Row]) -> impl Fn(&Row) -> Vec<String> {
    let varies = |tell: fn(&Row) -> &String| family.iter().any(|row| tell(row) != tell(family[0]));
    let (code, control, source) = (varies(|r| &r.code), varies(|r| &r.control), varies(|r| &r.source));
    move |row| {
        let mut words = Vec::new();
        words.extend((code && !row.code.is_empty()).then(|| format!("code {}", row.code)));
        words.extend((control && !row.control.is_empty()).then(|| format!("control {}", row.control)));
        words.extend(source.then(|| row.source.rsplit('/').next().unwrap_or("").to_owned()));
        words
    }
}

/// A colour for each memory, and for the inlined relinquish where no memory is told; the same in every panel.
fn colour(memory: &str) -> usize {
    ["BTCM", "DRAM0", "CTCM", "ATCM", "", "inline"].iter().position(|known| *known == memory).unwrap_or(4)
}

fn distribution(rows: &[Row]) -> Vec<Panel> {
    let drawn: Vec<Row> = placed(rows).iter().filter(drawn).filter(|row| row.max.is_some()).cloned().collect();
    let panel = |family: &Vec<&Row>| {
        // Placements are the subject of the next plot.
        let first = family.iter().map(|row| row.placement).min().flatten();
        let beside = beside(family);
        let items: Vec<Range> = family
            .iter()
            .filter(|row| row.placement == first)
            .filter_map(|row| {
                let (min, max) = (row.min?, row.max?);
                let kept = row.kept();
                let label = match row.bench.as_str() {
                    "host_flip" => format!("{} {}", row.detail, row.cache),
                    _ => {
                        let parts = [row.memory.clone(), row.cache_state()];
                        let main = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
                        [vec![main], beside(row)].concat().join(", ")
                    }
                };
                let mid = row.p50.or(row.mean).unwrap_or(min);
                // The tail of a host's series is what else the host did: it would hide the rest.
                let max = if row.origin == Origin::Host { row.p90.unwrap_or(max) } else { max };
                Some(Range { label, colour: colour(&row.memory), min, mid, max, samples: kept })
            })
            .collect();
        let place = first.map_or(String::new(), |place| format!(", placement {place}"));
        let cut = if family[0].origin == Origin::Host { ", up to the 90th percentile" } else { "" };
        Panel::Ranges { title: format!("{}{place}{cut}", title(family[0])), unit: family[0].unit.clone(), items }
    };
    families(&drawn, measurement).iter().map(panel).collect()
}

fn placement(rows: &[Row]) -> Vec<Panel> {
    // The published sweeps are of a cold cache.
    let placed = |row: &&Row| row.placement.is_some() && row.cache == "cold";
    let placed: Vec<Row> = rows.iter().filter(drawn).filter(placed).cloned().collect();
    let key = |row: &Row| [measurement(row), vec![row.cache_state()]].concat();
    let mut panels = Vec::new();
    for family in families(&placed, key) {
        let mut lines: Vec<Line> = Vec::new();
        let beside = beside(&family);
        for row in &family {
            let (Some(place), Some(min)) = (row.placement, row.min) else { continue };
            let point = (place, min, row.max.unwrap_or(min));
            let parts = [vec![row.memory.clone()], beside(row)].concat();
            let label = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
            match lines.iter_mut().find(|line| line.label == label) {
                Some(line) => line.points.push(point),
                None => {
                    // The memory's own, or the first that no line of the panel has.
                    let own = colour(&row.memory);
                    let free = |colour: &usize| lines.iter().all(|line| line.colour != *colour);
                    let colour = [own].into_iter().chain(0..COLOURS.len()).find(free).unwrap_or(own);
                    lines.push(Line { colour, label, points: vec![point] });
                }
            }
        }
        lines.retain(|line| line.points.len() > 1);
        lines.iter_mut().for_each(|line| line.points.sort_unstable());
        if !lines.is_empty() {
            let title = format!("{}, {}", title(family[0]), family[0].cache_state());
            // What stands still must not be taken for a finding.
            let about = match family[0].origin {
                Origin::Emulated => {
                    "offset of the timed code in its 64-byte line, bytes; an emulator's count does not depend on it"
                }
                _ => "offset of the timed code in its 64-byte line, bytes",
            };
            panels.push(Panel::Sweep { title, unit: family[0].unit.clone(), about, lines });
        }
    }
    panels
}

/// Each publication beside its counterparts in the table of them, from at most two kernels or boards of this run.
fn against_published(rows: &[Row]) -> Vec<Panel> {
    let rows = placed(rows);
    let mine: Vec<Row> = rows.iter().filter(drawn).filter(|row| row.origin != Origin::Published).cloned().collect();
    let own = |row: &Row| vec![row.board.clone(), without_lto(&row.kernel), row.unit.clone()];
    let families = families(&mine, own);
    published::ids().iter().filter_map(|id| beside_published(id, &families)).collect()
}

fn beside_published(id: &str, families: &[Vec<&Row>]) -> Option<Panel> {
    let published = published::all();
    let theirs: Vec<&Row> = published.iter().filter(|row| row.source == id).collect();
    let one_board = theirs.iter().all(|row| row.board == theirs[0].board);
    let bar = |row: &Row| {
        let place = row.placement.filter(|_| theirs[0].placement.is_some());
        let place = place.map_or(String::new(), |place| format!("offset {place}"));
        let where_ = if row.memory.is_empty() || row.bench == "interrupt_to_handler" { &row.code } else { &row.memory };
        let level = if row.bench == "host_flip" { row.detail.as_str() } else { "" };
        // Its board, where a publication has several; what stands behind it is its processor.
        let board = match row.origin {
            Origin::Published if !one_board => row.board.split(' ').next().unwrap_or(""),
            _ => "",
        };
        let parts = [board, level, where_, &row.cache, &row.variant, &place];
        let label = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        (label, row.min, colour(if where_.is_empty() { &row.variant } else { where_ }))
    };
    let heading = |row: &Row| {
        let board = if row.origin == Origin::Published && !one_board { "several boards" } else { &row.board };
        let bench = if row.bench == theirs[0].bench { String::new() } else { format!("{}: ", row.bench) };
        [format!("{bench}{board}, {} ({})", row.unit, row.origin.name()), row.kernel.clone()]
    };
    let mut sides = vec![(heading(theirs[0]), theirs.iter().map(|row| bar(row)).collect())];
    // The same measurement before another one that answers the question: this machine before a board.
    let another = |family: &&Vec<&Row>| family.iter().all(|row| row.bench != theirs[0].bench);
    let mut families: Vec<&Vec<&Row>> = families.iter().collect();
    families.sort_by_key(another);
    for family in families {
        let found: Vec<_> = theirs.iter().map(|row| (*row, counterpart(row, family).0)).collect();
        let Some(first) = found.iter().find_map(|(_, found)| *found) else { continue };
        // Each in the line and colour of its counterpart, or what there is no counterpart of.
        let beside = |(theirs, found): &(&Row, Option<&Row>)| {
            let (label, _, colour) = bar(theirs);
            found.map_or((label, None, colour), |row| (bar(row).0, row.min, colour))
        };
        let mut bars: Vec<_> = found.iter().map(beside).collect();
        if !one_board {
            // One figure of ours stands beside those of all their boards.
            bars.retain(|(_, length, _)| length.is_some());
            let mut seen = Vec::new();
            bars.retain(|bar| {
                !seen.contains(bar) && {
                    seen.push(bar.clone());
                    true
                }
            });
        }
        sides.push((heading(first), bars));
    }
    sides.truncate(3);
    let title = format!("{}: smallest sample, each side on its own axis ({id})", theirs[0].bench);
    (sides.len() > 1).then_some(Panel::Bars { title, sides })
}

/// The publications of which nothing is drawn, each with the reason.
fn undrawn(rows: &[Row]) -> Vec<String> {
    let rows = placed(rows);
    let ours: Vec<&Row> = rows.iter().filter(drawn).filter(|row| row.origin != Origin::Published).collect();
    let published = published::all();
    let why = |id: &String| {
        let theirs: Vec<&Row> = published.iter().filter(|row| row.source == *id).collect();
        let found: Vec<_> = theirs.iter().map(|row| counterpart(row, &ours)).collect();
        found.iter().all(|(row, _)| row.is_none()).then(|| format!("{id} is not drawn: {}", found[0].1))
    };
    published::ids().iter().filter_map(why).collect()
}

fn draw<DB: DrawingBackend>(root: &Area<'_, DB>, panels: &[Panel]) -> Drawn {
    root.fill(&WHITE).map_err(said)?;
    let mut rest = root.clone();
    for panel in panels {
        let (area, below) = rest.split_vertically(panel.height());
        rest = below;
        match panel {
            Panel::Ranges { title, unit, items } => ranges(&area, title, unit, items)?,
            Panel::Sweep { title, unit, about, lines } => sweep(&area, title, (unit, about), lines)?,
            Panel::Bars { title, sides } => bars(&area, title, sides)?,
        }
    }
    root.present().map_err(said)
}

fn said(e: impl std::fmt::Display) -> String {
    e.to_string()
}

fn text(size: u32) -> TextStyle<'static> {
    (FONT, size).into_font().color(&INK)
}

fn heading<DB: DrawingBackend>(area: &Area<'_, DB>, title: &str) -> Drawn {
    let style = TextStyle::from((FONT, 15, FontStyle::Bold).into_font()).color(&INK);
    area.draw(&Text::new(fitted(title, &style, WIDTH as i32 - 24), (12, 8), style)).map_err(said)
}

/// What does not fit into so many pixels is cut with a sign that it was.
fn fitted(line: &str, style: &TextStyle<'_>, room: i32) -> String {
    let mut shown = line.to_owned();
    while style.font.layout_box(&shown).is_ok_and(|((x0, _), (x1, _))| x1 - x0 > room) && shown.len() > 8 {
        shown = shown.chars().take(shown.chars().count() - 2).collect::<String>() + "…";
    }
    shown
}

/// An axis around `low..=high` with some room, long enough that no part of a count is marked on it.
fn axis(low: u64, high: u64) -> (f64, f64) {
    let (low, high) = (low as f64, high as f64);
    let room = ((high - low) * 0.06).max(high * 0.02).max(3.0);
    ((low - room).max(0.0), high + room)
}

fn number(value: &f64) -> String {
    if *value >= 1e6 {
        format!("{:.2} M", value / 1e6)
    } else if value.fract().abs() < 0.01 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

/// Room for labels in a column at the left: the widest, within reason.
fn room<'l>(labels: impl Iterator<Item = &'l String>) -> i32 {
    let width = |label: &String| text(13).font.layout_box(label).map_or(0, |((x0, _), (x1, _))| x1 - x0);
    labels.map(width).max().unwrap_or(0).clamp(110, 400) + 24
}

fn ranges<DB: DrawingBackend>(area: &Area<'_, DB>, title: &str, unit: &str, items: &[Range]) -> Drawn {
    heading(area, title)?;
    let (low, high) = axis(
        items.iter().map(|item| item.min).min().unwrap_or(0),
        items.iter().map(|item| item.max).max().unwrap_or(1),
    );
    let n = items.len() as f64;
    let mut chart = ChartBuilder::on(area)
        .margin_top(30)
        .margin_right(20)
        .set_label_area_size(LabelAreaPosition::Left, room(items.iter().map(|item| &item.label)))
        .set_label_area_size(LabelAreaPosition::Bottom, 42)
        .build_cartesian_2d(low..high, 0f64..n)
        .map_err(said)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .y_labels(0)
        .x_labels(8)
        .light_line_style(WHITE)
        .bold_line_style(FAINT)
        .label_style(text(12))
        .x_label_formatter(&number)
        .x_desc(unit)
        .axis_desc_style(text(12))
        .draw()
        .map_err(said)?;
    for (at, item) in items.iter().enumerate() {
        let y = n - at as f64 - 0.5;
        let colour = COLOURS[item.colour % COLOURS.len()];
        let step = item.samples.len().div_ceil(DOTS).max(1);
        // Spread by their order, so that equal samples do not hide each other.
        let dots =
            item.samples.iter().step_by(step).filter(|&&value| value <= item.max && item.min < item.max).enumerate();
        let spread = |(i, &value): (usize, &u64)| (value as f64, y - 0.32 + 0.64 * ((i * 37) % 64) as f64 / 64.0);
        chart.draw_series(dots.map(spread).map(|at| Circle::new(at, 1.5, colour.mix(0.35).filled()))).map_err(said)?;
        let bar = [(item.min as f64, y), (item.max as f64, y)];
        chart.draw_series([PathElement::new(bar, colour.stroke_width(2))]).map_err(said)?;
        for end in [item.min, item.max] {
            let tick = [(end as f64, y - 0.25), (end as f64, y + 0.25)];
            chart.draw_series([PathElement::new(tick, colour.stroke_width(2))]).map_err(said)?;
        }
        let mid = EmptyElement::at((item.mid as f64, y)) + Circle::new((0, 0), 4, INK.filled());
        chart.draw_series([mid]).map_err(said)?;
        label(area, &chart.backend_coord(&(low, y)), &item.label)?;
    }
    Ok(())
}

/// `name` left of a point that is given in the backend's coordinates.
fn label<DB: DrawingBackend>(area: &Area<'_, DB>, at: &(i32, i32), name: &str) -> Drawn {
    let (x0, y0) = area.get_base_pixel();
    let style = text(13).pos(plotters::style::text_anchor::Pos::new(
        plotters::style::text_anchor::HPos::Right,
        plotters::style::text_anchor::VPos::Center,
    ));
    area.draw(&Text::new(name.to_owned(), (at.0 - x0 - 8, at.1 - y0), style)).map_err(said)
}

fn sweep<DB: DrawingBackend>(area: &Area<'_, DB>, title: &str, (unit, about): (&str, &str), lines: &[Line]) -> Drawn {
    heading(area, title)?;
    let points = || lines.iter().flat_map(|line| &line.points);
    let (low, high) = axis(points().map(|p| p.1).min().unwrap_or(0), points().map(|p| p.2).max().unwrap_or(1));
    let mut chart = ChartBuilder::on(area)
        .margin_top(30)
        .margin_right(20)
        .margin_left(12)
        .set_label_area_size(LabelAreaPosition::Left, 90)
        .set_label_area_size(LabelAreaPosition::Bottom, 42)
        .build_cartesian_2d(-6f64..70f64, low..high)
        .map_err(said)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(0)
        .y_labels(6)
        .light_line_style(WHITE)
        .bold_line_style(FAINT)
        .label_style(text(12))
        .y_label_formatter(&number)
        .x_desc(about)
        .y_desc(unit)
        .axis_desc_style(text(12))
        .draw()
        .map_err(said)?;
    let shown = lines.len() as f64;
    // Beside each other, and all points above all lines, so that equal ones do not hide each other.
    let x = |nth: usize, place: u32| f64::from(place) + (nth as f64 - (shown - 1.0) / 2.0) * 1.6;
    for (nth, line) in lines.iter().enumerate() {
        let colour = COLOURS[line.colour % COLOURS.len()];
        let joined = line.points.iter().map(|&(place, min, _)| (x(nth, place), min as f64));
        chart
            .draw_series(LineSeries::new(joined, colour.stroke_width(2)))
            .map_err(said)?
            .label(line.label.clone())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(3)));
    }
    for (nth, line) in lines.iter().enumerate() {
        let colour = COLOURS[line.colour % COLOURS.len()];
        let up = line.points.iter().map(|&(place, min, max)| {
            PathElement::new(
                [(x(nth, place), min as f64), (x(nth, place), max as f64)],
                colour.mix(0.6).stroke_width(1),
            )
        });
        chart.draw_series(up).map_err(said)?;
        let points = line.points.iter().map(|&(place, min, _)| (x(nth, place), min as f64));
        chart.draw_series(points.map(|at| Circle::new(at, 4, colour.filled()))).map_err(said)?;
    }
    for place in [0, 16, 32, 48] {
        let at = chart.backend_coord(&(f64::from(place), low));
        let (x0, y0) = area.get_base_pixel();
        let centred = plotters::style::text_anchor::Pos::new(
            plotters::style::text_anchor::HPos::Center,
            plotters::style::text_anchor::VPos::Top,
        );
        area.draw(&Text::new(place.to_string(), (at.0 - x0, at.1 - y0 + 6), text(12).pos(centred))).map_err(said)?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::MiddleRight)
        .background_style(WHITE.mix(0.8))
        .border_style(FAINT)
        .label_font(text(13))
        .draw()
        .map_err(said)
}

fn bars<DB: DrawingBackend>(area: &Area<'_, DB>, title: &str, sides: &[Side]) -> Drawn {
    heading(area, title)?;
    let (_, body) = area.split_vertically(30);
    // Bars of both sides are as thick.
    let n = sides.iter().map(|(_, items)| items.len()).max().unwrap_or(1).max(1) as f64;
    for (side, (name, items)) in body.split_evenly((1, sides.len())).iter().zip(sides) {
        let width = WIDTH as i32 / sides.len() as i32 - 24;
        for (line, y) in name.iter().zip([2, 18]) {
            side.draw(&Text::new(fitted(line, &text(12), width), (12, y), text(12))).map_err(said)?;
        }
        let high = items.iter().filter_map(|item| item.1).max().unwrap_or(1).max(1) as f64;
        let chart = ChartBuilder::on(side)
            .margin_top(36)
            .margin_right(10)
            .margin_bottom(8)
            .set_label_area_size(LabelAreaPosition::Left, room(items.iter().map(|item| &item.0)))
            .build_cartesian_2d(0f64..high * 1.3, 0f64..n)
            .map_err(said);
        let mut chart = chart?;
        for (at, (text_of, value, colour)) in items.iter().enumerate() {
            let y = n - at as f64 - 0.5;
            let fill = COLOURS[colour % COLOURS.len()].mix(0.8).filled();
            let length = value.unwrap_or(0) as f64;
            chart.draw_series([Rectangle::new([(0.0, y - 0.36), (length, y + 0.36)], fill)]).map_err(said)?;
            label(side, &chart.backend_coord(&(0.0, y)), text_of)?;
            let end = chart.backend_coord(&(length, y));
            let (x0, y0) = side.get_base_pixel();
            let left = plotters::style::text_anchor::Pos::new(
                plotters::style::text_anchor::HPos::Left,
                plotters::style::text_anchor::VPos::Center,
            );
            let value = value.map_or("none".into(), |value| value.to_string());
            side.draw(&Text::new(value, (end.0 - x0 + 5, end.1 - y0), text(12).pos(left))).map_err(said)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(memory: &str, cache: &str, min: u64, samples: Vec<u64>) -> Row {
        Row {
            origin: Origin::Silicon,
            bench: "context_switch".into(),
            board: "s32z280".into(),
            kernel: "bundled".into(),
            unit: "cycles".into(),
            memory: memory.into(),
            cache: cache.into(),
            min: Some(min),
            mean: Some(min + 2),
            max: Some(min + 30),
            samples,
            ..Row::default()
        }
    }

    #[test]
    fn a_distribution_has_its_memories_and_its_unit() {
        let rows = [row("BTCM", "cold", 1370, vec![1370, 1380, 1400]), row("DRAM0", "cold", 1476, vec![])];
        let drawn = svg(Kind::Distribution, &rows).unwrap();
        for text in ["BTCM cold", "DRAM0 cold", "cycles", "context_switch, bundled, s32z280, silicon"] {
            assert!(drawn.contains(text), "{text}");
        }
        assert_eq!(drawn.matches("<circle").count(), 3 + 2, "three samples and two medians");
    }

    #[test]
    fn long_labels_have_their_room() {
        fonts();
        let long = "DRAM0 polluted_dirty 32 KiB, code BRAM, control DRAM0".to_owned();
        let width = text(13).font.layout_box(&long).unwrap().1.0;
        assert!(width > 230 && room([long].iter()) >= width + 8, "{width}");
    }

    #[test]
    fn equal_samples_and_extremes_still_have_an_axis() {
        for min in [0, 1, u64::from(u32::MAX)] {
            let mut only = row("BTCM", "cold", min, vec![min; 4]);
            only.max = Some(min);
            only.mean = Some(min);
            svg(Kind::Distribution, &[only]).unwrap();
        }
    }

    #[test]
    fn placements_are_lines_and_published_figures_bars() {
        let rows = published::of("published:638").unwrap();
        let drawn = svg(Kind::Placement, &rows).unwrap();
        assert!(drawn.contains("BTCM") && drawn.contains("DRAM0") && drawn.contains("offset of the timed code"));
        assert!(svg(Kind::Published, &rows).unwrap_err().starts_with("nothing to draw"));
        let ours = [row("BTCM", "cold", 40, vec![]), row("DRAM0", "cold", 40, vec![])];
        let drawn = svg(Kind::Published, &ours).unwrap();
        assert!(drawn.contains("1370") && drawn.contains("1476") && drawn.matches(">\n40\n<").count() == 2, "{drawn}");
        assert_eq!(drawn.matches(">\nnone\n<").count(), 2, "the warm ones");
        let turned = [ours[1].clone(), ours[0].clone()];
        assert_eq!(svg(Kind::Published, &turned).unwrap(), drawn, "in the order of the published ones");
        assert!(svg(Kind::Placement, &ours).unwrap_err().contains("no result says where"));
    }

    #[test]
    fn every_publication_is_drawn_or_named_as_not_drawn() {
        let all: Vec<Row> = ["context_switch", "deep_stack", "table_sweep", "event_handoff", "interrupt_to_handler"]
            .iter()
            .flat_map(|bench| {
                ["cold", "warm"].map(|cache| Row { bench: (*bench).into(), ..row("BTCM", cache, 40, vec![]) })
            })
            .map(|row| Row { variant: "call".into(), placement: Some(0), detail: "24x16".into(), ..row })
            .collect();
        for rows in [&all[..1], &all[..6], &all] {
            let caption = Kind::Published.caption(rows);
            let panels = panels(Kind::Published, rows);
            let is_drawn = |id: &str| {
                let of =
                    |panel: &Panel| matches!(panel, Panel::Bars { title, .. } if title.ends_with(&format!("({id})")));
                panels.iter().any(of)
            };
            for id in published::ids() {
                let named = caption.contains(&format!("{id} is not drawn: "));
                assert!(is_drawn(&id) != named, "{id} with {} rows: {caption}", rows.len());
            }
        }
        assert!(!Kind::Published.caption(&all).contains("not drawn"));
        assert!(Kind::Published.caption(&all[..1]).contains("measures deep_stack"));
    }

    #[test]
    fn control_blocks_elsewhere_are_another_line() {
        let at = |control: &str, placement, min| Row {
            control: control.into(),
            placement: Some(placement),
            ..row("BTCM", "cold", min, vec![])
        };
        let rows = [at("DRAM0", 0, 40), at("DRAM0", 16, 40), at("BTCM", 0, 30), at("BTCM", 16, 30)];
        let panels = placement(&rows);
        let [Panel::Sweep { lines, .. }] = &panels[..] else { panic!("{}", panels.len()) };
        assert_eq!(
            lines.iter().map(|line| (line.label.as_str(), line.points.len())).collect::<Vec<_>>(),
            [("BTCM, control DRAM0", 2), ("BTCM, control BTCM", 2)]
        );
        assert_ne!(lines[0].colour, lines[1].colour);
        let two_runs: Vec<Row> = ["a", "b"]
            .iter()
            .flat_map(|source| rows.iter().take(2).map(|row| Row { source: (*source).into(), ..row.clone() }))
            .collect();
        let panels = placement(&two_runs);
        let [Panel::Sweep { lines, .. }] = &panels[..] else { panic!("{}", panels.len()) };
        assert_eq!(lines.iter().map(|line| line.label.as_str()).collect::<Vec<_>>(), ["BTCM, a", "BTCM, b"]);
        let drawn = svg(Kind::Placement, &[rows[0].clone(), rows[2].clone()]).unwrap_err();
        assert!(drawn.contains("cold cache is there at two placements"), "{drawn}");
        let warm: Vec<Row> = rows.iter().map(|row| Row { cache: "warm".into(), ..row.clone() }).collect();
        assert!(svg(Kind::Placement, &warm).unwrap_err().contains("the sweep is of a cold cache"));
    }

    #[test]
    fn a_png_has_text_without_any_font_of_the_system() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plot.png");
        let rows = [row("BTCM", "cold", 1370, vec![])];
        png(Kind::Distribution, &rows, &path).unwrap();
        let with = std::fs::metadata(&path).unwrap().len();
        assert!(with > 3000, "{with} bytes: too small to have text in it");
        assert!(png(Kind::Distribution, &rows, Path::new("/nonexistent/plot.png")).is_err());
    }
}
