//! Dates in cells, in the forms that people and spreadsheet programs use.

use jiff::civil;

use super::value::is_digits;
use crate::record::{CalendarDate, slug};
use crate::text::is_listed;

/// The order of day and month in dates such as `3/4/2025`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateOrder {
    /// `31/12/2025`
    DayFirst,
    /// `12/31/2025`
    MonthFirst,
}

/// A date as written in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Date {
    /// A date that can be read in only one way.
    Day(CalendarDate),
    /// Day and month, in an order that only other cells reveal, and the year.
    Either(u8, u8, u16),
    /// Only a month or a year.
    Partial,
}

/// A date, and whether a time of day followed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) date: Date,
    pub(super) has_time: bool,
}

/// Month names in the languages whose headers are recognised, as slugs; they may be shortened to three
/// letters or more. Finnish is missing, since its November would begin like everybody's March.
const MONTHS: [&str; 12] = [
    "january januar janner janvier enero gennaio janeiro januari styczen stycznia leden ledna ocak январь января січень \
     січня",
    "february februar feber fevrier febrero febbraio fevereiro februari luty lutego unor unora subat февраль февраля лютии \
     лютого",
    "march marz maerz mars mrz marzo marco maart mrt marts marzec marca brezen brezna mart март марта березень березня",
    "april avril abril aprile kwiecien kwietnia duben dubna nisan апрель апреля квітень квітня",
    "may mai mayo maggio maio mei maj maja kveten kvetna mayıs маи мая травень травня",
    "june juni juin junio giugno junho czerwiec czerwca cerven cervna haziran июнь июня червень червня",
    "july juli juillet julio luglio julho lipiec lipca cervenec cervence temmuz июль июля липень липня",
    "august aout agosto augustus augusti sierpien sierpnia srpen srpna agustos август августа серпень серпня",
    "september sept septembre septiembre settembre setembro wrzesien wrzesnia zari eylul сентябрь сентября вересень \
     вересня",
    "october oktober octobre octubre ottobre outubro pazdziernik pazdziernika rijen rijna ekim октябрь октября жовтень \
     жовтня",
    "november novembre noviembre novembro listopad listopada kasım ноябрь ноября листопад листопада",
    "december dezember decembre diciembre dicembre dezembro desember grudzien grudnia prosinec prosince aralık декабрь \
     декабря грудень грудня",
];

/// Weekdays as slugs, without abbreviations that could be months.
const WEEKDAYS: &str = "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun montag dienstag \
     mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so lundi mardi mercredi jeudi vendredi samedi \
     dimanche lunes martes miercoles jueves viernes sabado domingo lunedi martedi mercoledi giovedi venerdi domenica maandag \
     dinsdag woensdag donderdag vrijdag zaterdag zondag";

/// Two-digit years below this belong to the 21st century, the others to the 20th.
const CENTURY_PIVOT: u16 = 70;

/// Reads a date that may be followed only by a time of day; `None` for any other text.
pub(super) fn read(text: &str, is_1904: bool) -> Option<Read> {
    let text = &text.replace(['\u{2010}', '\u{2011}', '–', '−'], "-");
    let is_weekday = |word: &str| {
        let word = slug(word);
        is_listed(WEEKDAYS, &word)
    };
    let text =
        text.split_once([',', ' ']).filter(|(word, _)| is_weekday(word)).map_or(&**text, |(_, rest)| rest.trim());
    if let Some(date) = whole(text, is_1904) {
        return Some(Read { date, has_time: false });
    }
    let (day, time) = text.match_indices(['T', ' ', ',']).find_map(|(at, mark)| {
        let (day, time) = (&text[..at], &text[at + mark.len()..]);
        is_time(time.trim()).then_some((day, time.trim()))
    })?;
    let date = whole(day.trim_end_matches([',', ' ']), is_1904).filter(|date| *date != Date::Partial)?;
    // Spreadsheet programs write midnight for a date without a time.
    let has_time = time.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
    Some(Read { date, has_time })
}

/// The date with the day and month in a given order, if it exists.
pub(super) fn ordered(a: u8, b: u8, year: u16, order: DateOrder) -> Option<CalendarDate> {
    match order {
        DateOrder::DayFirst => calendar(year, b, a),
        DateOrder::MonthFirst => calendar(year, a, b),
    }
}

fn whole(text: &str, is_1904: bool) -> Option<Date> {
    if let Some(day) = CalendarDate::parse(text) {
        return Some(Date::Day(day));
    }
    if is_digits(text) {
        return match text.len() {
            4 => Some(Date::Partial),
            5 => from_serial(text.parse().ok()?, is_1904).map(Date::Day),
            8 if text.starts_with("19") || text.starts_with("20") => {
                calendar(text[..4].parse().ok()?, short(&text[4..6])?, short(&text[6..])?).map(Date::Day)
            }
            _ => None,
        };
    }
    // `2025年3月14日`, `2025년 3월 14일`, `2025. 3. 14.` and `14.03.2025 г.`.
    let text = text.trim_end_matches(['日', '일', 'г', '.', ' ']).replace(['年', '月', '년', '월'], "-");
    let text = text.trim_end_matches('-');
    for separator in ['-', '/', '.'] {
        let parts: Vec<&str> = text.split(separator).map(str::trim).collect();
        if !parts.iter().all(|part| is_digits(part) && part.len() <= 4) {
            continue;
        }
        let found = match parts[..] {
            [year, month, day] if year.len() == 4 => {
                calendar(year.parse().ok()?, short(month)?, short(day)?).map(Date::Day)
            }
            [day, month, year] if separator == '.' => {
                calendar(full_year(year)?, short(month)?, short(day)?).map(Date::Day)
            }
            [a, b, year] => {
                let (a, b, year) = (short(a)?, short(b)?, full_year(year)?);
                let is_day = calendar(year, a, b).is_some() || calendar(year, b, a).is_some();
                is_day.then_some(Date::Either(a, b, year))
            }
            [a, b] if (a.len() == 4) != (b.len() == 4) => {
                let month = short(if a.len() == 4 { b } else { a })?;
                (1..=12).contains(&month).then_some(Date::Partial)
            }
            _ => None,
        };
        return found;
    }
    named(text)
}

/// A date with a month name, such as `07-Jan-18`, `7. Januar 2018` or `January 7, 2018`.
fn named(text: &str) -> Option<Date> {
    let is_said = |part: &String| !matches!(part.as_str(), "" | "de" | "del" | "г" | "р");
    let parts: Vec<String> = text.split([' ', '-', '/', '.', ',']).map(slug).filter(is_said).collect();
    let day = |part: &str| {
        let digits = part.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        matches!(&part[digits.len()..], "" | "st" | "nd" | "rd" | "th" | "er").then(|| short(digits))?
    };
    match parts.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [a, b, year] => {
            let (day, month) = month(b).map_or_else(|| Some((day(b)?, month(a)?)), |month| Some((day(a)?, month)))?;
            calendar(full_year(year)?, month, day).map(Date::Day)
        }
        [a, year] => (month(a).is_some() && full_year(year).is_some()).then_some(Date::Partial),
        _ => None,
    }
}

fn month(part: &str) -> Option<u8> {
    let with = |is_name: &dyn Fn(&str) -> bool| {
        let mut found =
            MONTHS.iter().zip(1..).filter(|(names, _)| names.split(' ').any(is_name)).map(|(_, month)| month);
        // "jui" could be June or July.
        found.next().filter(|_| found.next().is_none())
    };
    with(&|name| name == part).or_else(|| with(&|name| part.chars().count() >= 3 && name.starts_with(part)))
}

fn short(part: &str) -> Option<u8> {
    (1..=2).contains(&part.len()).then(|| part.parse().ok())?
}

fn full_year(part: &str) -> Option<u16> {
    let year: u16 = part.parse().ok()?;
    match part.len() {
        4 => Some(year),
        2 => Some(if year < CENTURY_PIVOT { 2000 + year } else { 1900 + year }),
        _ => None,
    }
}

fn is_time(text: &str) -> bool {
    let upper = text.to_ascii_uppercase().replace("UTC", "Z").replace("GMT", "Z");
    let zone = upper.rfind(['+', '-', 'Z']).filter(|at| *at > 3);
    let (time, zone) = upper.split_at(zone.unwrap_or(upper.len()));
    let time = time.trim_end_matches(['Z', ' ']);
    let time = time.trim_end_matches("AM").trim_end_matches("PM").trim_end_matches("UHR").trim_end();
    let fields = |text: &str| {
        let fields: Vec<_> = text.split(':').collect();
        let is_field = |field: &&str| {
            let whole = field.split(['.', ',']).next().unwrap_or_default();
            (1..=2).contains(&whole.len())
                && field.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b',')
        };
        (2..=3).contains(&fields.len()) && fields.iter().all(is_field)
    };
    let zone = zone.trim_start_matches(['+', '-', 'Z']);
    fields(time) && (fields(zone) || (zone.len() <= 4 && zone.bytes().all(|byte| byte.is_ascii_digit())))
}

fn calendar(year: u16, month: u8, day: u8) -> Option<CalendarDate> {
    CalendarDate::parse(&format!("{year:04}-{month:02}-{day:02}"))
}

/// The date of a spreadsheet program's serial number. Counting from 1900, 1 is 1900-01-01 and the
/// nonexistent 1900-02-29 is included, so numbers before 1900-03-01 aren't treated as dates.
/// Counting from 1904, 0 is 1904-01-01.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn from_serial(serial: f64, is_1904: bool) -> Option<CalendarDate> {
    let first = if is_1904 { 0.0 } else { 61.0 };
    if !(first..100_000.0).contains(&serial) {
        return None;
    }
    let start = if is_1904 { civil::date(1904, 1, 1) } else { civil::date(1899, 12, 30) };
    let days = jiff::Span::new().try_days(serial as i64).ok()?;
    Some(start.checked_add(days).ok()?.into())
}

/// A cell's serial number as a date, a date with time, or a time alone.
#[expect(clippy::cast_possible_truncation, reason = "a fraction of a day in seconds")]
pub(super) fn from_cell(serial: f64, is_1904: bool) -> Option<String> {
    // Rounded to the second, so that a day doesn't begin a moment early.
    let seconds = (serial * 86_400.0).round();
    let (day, rest) = ((seconds / 86_400.0).floor(), seconds.rem_euclid(86_400.0) as i64);
    let time = format!("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
    if (0.0..1.0).contains(&serial) {
        return Some(time);
    }
    let day = from_serial(day, is_1904)?;
    Some(if rest == 0 { day.to_string() } else { format!("{day} {time}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        let Read { date, has_time } = read(text, false)?;
        let date = match date {
            Date::Day(day) => day.to_string(),
            Date::Either(a, b, year) => format!("{a}/{b}/{year}"),
            Date::Partial => "partial".to_owned(),
        };
        Some(if has_time { format!("{date}+") } else { date })
    }

    #[test]
    fn dates_in_every_supported_form_are_parsed_and_other_text_is_rejected() {
        for (text, expected) in [
            ("2025-12-31", Some("2025-12-31")),
            ("2025-12-31T00:00:00", Some("2025-12-31")),
            ("2025-12-31T10:30:00.5Z", Some("2025-12-31+")),
            ("2025-12-31 10:30:00+02:00", Some("2025-12-31+")),
            ("2025/1/2", Some("2025-01-02")),
            ("31.12.2025", Some("2025-12-31")),
            ("1.2.2025", Some("2025-02-01")),
            ("10.01.24", Some("2024-01-10")),
            ("10.01.85", Some("1985-01-10")),
            ("45658", Some("2025-01-01")),
            ("12/31/2025", Some("12/31/2025")),
            ("1/2/2025 0:00", Some("1/2/2025")),
            ("12/31/2025 2:05:00 PM", Some("12/31/2025+")),
            ("31-12-2025", Some("31/12/2025")),
            ("1/2/25", Some("1/2/2025")),
            ("07-Jan-18", Some("2018-01-07")),
            ("7. Januar 2018", Some("2018-01-07")),
            ("7 déc. 2018", Some("2018-12-07")),
            ("January 7th, 2018", Some("2018-01-07")),
            ("1er mars 2020", Some("2020-03-01")),
            ("14 de marzo de 2025", Some("2025-03-14")),
            ("14 set. 2025", Some("2025-09-14")),
            ("1 července 2025", Some("2025-07-01")),
            ("1. Červen 2025", Some("2025-06-01")),
            ("3 мая 2025 г.", Some("2025-05-03")),
            ("14 Kasım 2025", Some("2025-11-14")),
            ("2025年3月14日", Some("2025-03-14")),
            ("2025년 3월 14일", Some("2025-03-14")),
            ("2025年3月", Some("partial")),
            ("14.03.2025 г.", Some("2025-03-14")),
            ("2025. 3. 14.", Some("2025-03-14")),
            ("2025–03–14", Some("2025-03-14")),
            ("20250314", Some("2025-03-14")),
            ("Fri, 14 Mar 2025", Some("2025-03-14")),
            ("Freitag, 14.03.2025", Some("2025-03-14")),
            ("Mar 14th, 2025", Some("2025-03-14")),
            ("2025/03/14 10:15:02 AM GMT+1", Some("2025-03-14+")),
            ("2025-03-14 10:15:02 UTC", Some("2025-03-14+")),
            ("2025-03-14 10:15:02 +0100", Some("2025-03-14+")),
            ("planned, 14 Mar 2025", None),
            ("20251314", None),
            ("1741910400", None),
            ("Q1 2025", None),
            ("2025-W11", None),
            ("November 2024", Some("partial")),
            ("2024", Some("partial")),
            ("11/2024", Some("partial")),
            ("2024-11", Some("partial")),
            ("7 jui 2018", None),
            ("31.13.2025", None),
            ("30/30/2025", None),
            ("2025-12-31 bis 2026-01-31", None),
            ("31.12.2025 (geplant)", None),
            ("2025-12-31Tomorrow", None),
            ("2025-02-30", None),
            ("13/2024", None),
            ("soon", None),
            ("1.5", None),
        ] {
            assert_eq!(shown(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn serial_numbers_count_from_the_first_day_of_the_workbooks_epoch() {
        assert_eq!(from_cell(44_268.0, true).as_deref(), Some("2025-03-14"));
        assert_eq!(from_cell(45_730.0, false).as_deref(), Some("2025-03-14"));
        assert_eq!(from_cell(45_730.698_263_888_89, false).as_deref(), Some("2025-03-14 16:45:30"));
        assert_eq!(from_cell(0.697_916_666_666_666_6, false).as_deref(), Some("16:45:00"));
        assert_eq!(read("44268", true).map(|read| read.date), CalendarDate::parse("2025-03-14").map(Date::Day));
        assert_eq!(from_cell(30.0, false), None);
    }
}
