//! Charts as SVG, drawn without a library: lines on logarithmic axes, and bars.

use std::fmt::Write as _;

/// A drawing.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The name of its file, without a folder.
    pub file: String,
    /// What it shows, also for those who cannot see it.
    pub title: String,
    /// What is drawn.
    pub kind: Kind,
}

/// What a chart draws.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Lines over two logarithmic axes.
    Lines {
        /// What goes to the right.
        across: String,
        /// What goes up, in nanoseconds.
        up: String,
        /// One line each.
        series: Vec<Series>,
    },
    /// Bars over a logarithmic axis, from 1 to both sides.
    Bars(Vec<Bar>),
}

/// A line: its name and its points.
#[derive(Clone, Debug)]
pub struct Series {
    /// Whose line it is.
    pub name: String,
    /// (across, up), both above 0.
    pub points: Vec<(f64, f64)>,
}

/// A bar: its name, its length and the goal.
#[derive(Clone, Debug)]
pub struct Bar {
    /// What was measured.
    pub name: String,
    /// How many times faster.
    pub value: f64,
    /// How many times faster was wanted.
    pub goal: Option<f64>,
}

const COLORS: [&str; 6] = [
    "#1f6feb", "#d1242f", "#8250df", "#bf8700", "#1a7f37", "#57606a",
];
const GOOD: &str = "#1a7f37";
const BAD: &str = "#d1242f";
const FONT: &str = "font-family=\"sans-serif\" font-size=\"12\" fill=\"#24292f\"";

/// Returns the chart as the text of an SVG file.
#[must_use]
pub fn svg(chart: &Chart) -> String {
    let (width, height, body) = match &chart.kind {
        Kind::Lines { across, up, series } => lines(across, up, series),
        Kind::Bars(list) => bars(list),
    };
    let title = escaped(&chart.title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>{title}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"16\" y=\"24\" {FONT} font-weight=\"bold\">{title}</text>\n{body}</svg>\n"
    )
}

/// Maps a range of values to a range of pixels by their logarithms.
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Covers the values, rounded to whole powers of ten.
    fn around(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min).log10().floor();
        let high = values.fold(0.0, f64::max).log10().ceil();
        Self {
            low,
            high: high.max(low + 1.0),
            from,
            to,
        }
    }

    fn at(&self, value: f64) -> f64 {
        let part = (value.log10() - self.low) / (self.high - self.low);
        self.from + part * (self.to - self.from)
    }

    /// Returns the powers of ten in the range.
    fn marks(&self) -> impl Iterator<Item = f64> {
        (self.low as i32..=self.high as i32).map(|power| 10_f64.powi(power))
    }
}

fn lines(across: &str, up: &str, series: &[Series]) -> (u32, u32, String) {
    let (width, height) = (720, 420);
    let points = || series.iter().flat_map(|line| line.points.iter().copied());
    if points().next().is_none() {
        return (width, height, String::new());
    }
    let x = Scale::around(points().map(|(x, _)| x), 70.0, 480.0);
    let y = Scale::around(points().map(|(_, y)| y), 370.0, 50.0);
    let mut out = String::new();
    for mark in x.marks() {
        let at = x.at(mark);
        let _ = writeln!(
            out,
            "<path d=\"M{at:.1} 50V370\" stroke=\"#d8dee4\"/>\
             <text x=\"{at:.1}\" y=\"386\" text-anchor=\"middle\" {FONT}>{}</text>",
            short(mark)
        );
    }
    for mark in y.marks() {
        let at = y.at(mark);
        let _ = writeln!(
            out,
            "<path d=\"M70 {at:.1}H480\" stroke=\"#d8dee4\"/>\
             <text x=\"64\" y=\"{:.1}\" text-anchor=\"end\" {FONT}>{}</text>",
            at + 4.0,
            super::time(mark).replace(".00", "").replace(".0", "")
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"275\" y=\"408\" text-anchor=\"middle\" {FONT}>{}</text>\
         <text x=\"70\" y=\"43\" {FONT}>{}</text>",
        escaped(across),
        escaped(up)
    );
    for (i, line) in series.iter().enumerate() {
        let color = COLORS[i % COLORS.len()];
        let place = |(a, b): &(f64, f64)| format!("{:.1},{:.1}", x.at(*a), y.at(*b));
        let path: Vec<String> = line.points.iter().map(place).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>",
            path.join(" ")
        );
        for (a, b) in &line.points {
            let _ = writeln!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{color}\"/>",
                x.at(*a),
                y.at(*b)
            );
        }
        let row = 70 + i * 22;
        let _ = writeln!(
            out,
            "<rect x=\"500\" y=\"{}\" width=\"14\" height=\"4\" fill=\"{color}\"/>\
             <text x=\"520\" y=\"{row}\" {FONT}>{}</text>",
            row - 6,
            escaped(&line.name)
        );
    }
    (width, height, out)
}

fn bars(list: &[Bar]) -> (u32, u32, String) {
    let rows = u32::try_from(list.len()).expect("few bars");
    let (width, height) = (860, 70 + rows * 22);
    let values = list
        .iter()
        .flat_map(|bar| [Some(bar.value), bar.goal])
        .flatten()
        .chain([1.0]);
    let x = Scale::around(values, 390.0, 790.0);
    let mut out = String::new();
    let bottom = height - 26;
    for mark in x.marks() {
        let at = x.at(mark);
        let _ = writeln!(
            out,
            "<path d=\"M{at:.1} 36V{bottom}\" stroke=\"#d8dee4\"/>\
             <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\" {FONT}>{mark}x</text>",
            bottom + 16
        );
    }
    for (i, bar) in (0_u32..).zip(list) {
        let top = 42 + i * 22;
        let (from, to) = (x.at(1.0), x.at(bar.value));
        let goal = bar.goal.map(|goal| x.at(goal));
        let met = bar.goal.is_none_or(|goal| bar.value >= goal);
        let _ = writeln!(
            out,
            "<text x=\"380\" y=\"{}\" text-anchor=\"end\" {FONT}>{}</text>\
             <rect x=\"{:.1}\" y=\"{top}\" width=\"{:.1}\" height=\"14\" fill=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{}\" {FONT}>{:.2}x</text>",
            top + 12,
            escaped(&bar.name),
            from.min(to),
            (to - from).abs().max(1.0),
            if met { GOOD } else { BAD },
            from.max(to).max(goal.unwrap_or(from)) + 6.0, // Right of the mark too.
            top + 12,
            bar.value
        );
        if let Some(at) = goal {
            let _ = writeln!(
                out,
                "<path d=\"M{at:.1} {}V{}\" stroke=\"#24292f\" stroke-width=\"2\"/>",
                top - 2,
                top + 16
            );
        }
    }
    (width, height, out)
}

fn short(value: f64) -> String {
    match value {
        _ if value >= 1e6 => format!("{}M", value / 1e6),
        _ if value >= 1e3 => format!("{}k", value / 1e3),
        _ => format!("{value}"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lies_between_its_marks() {
        let scale = Scale::around([20.0, 3_000.0].into_iter(), 0.0, 300.0);
        assert_eq!(
            scale.marks().collect::<Vec<_>>(),
            [10.0, 100.0, 1_000.0, 10_000.0]
        );
        assert!((scale.at(100.0) - 100.0).abs() < 1e-9);
        assert!(scale.at(20.0) > 0.0 && scale.at(20.0) < 100.0);
    }

    #[test]
    fn every_line_and_bar_is_drawn_and_named() {
        let lines = svg(&Chart {
            file: "a.svg".to_owned(),
            title: "a < b".to_owned(),
            kind: Kind::Lines {
                across: "entities".to_owned(),
                up: "time".to_owned(),
                series: vec![Series {
                    name: "Nebula".to_owned(),
                    points: vec![(1_000.0, 50.0), (4e6, 900.0)],
                }],
            },
        });
        assert_eq!(lines.matches("<circle").count(), 2);
        assert!(lines.contains("a &lt; b") && lines.contains("Nebula"));
        let bar = |value, goal| Bar {
            name: "W1".to_owned(),
            value,
            goal: Some(goal),
        };
        let bars = svg(&Chart {
            file: "b.svg".to_owned(),
            title: "bars".to_owned(),
            kind: Kind::Bars(vec![bar(4.0, 3.0), bar(0.5, 1.0)]),
        });
        assert!(bars.contains(GOOD) && bars.contains(BAD));
        let behind = |text: &str, after: &str| {
            let number = text.split(after).nth(1)?.split(['\"', ' ']).next()?;
            number.parse::<f64>().ok()
        };
        let missed = svg(&Chart {
            file: "c.svg".to_owned(),
            title: "bars".to_owned(),
            kind: Kind::Bars(vec![bar(2.0, 3.0)]),
        });
        let row = missed.split("<rect").nth(2).expect("a bar");
        let (label, mark) = (behind(row, "<text x=\""), behind(row, "<path d=\"M"));
        assert!(label > mark, "the figure stands right of the mark: {row}");
    }
}
