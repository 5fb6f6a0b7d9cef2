//! Headers: which row names the columns (the one with the most known headers, below titles and
//! remarks, or the one that the user specified), and which property a header stands for.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization as _;

use super::mapping::is_known_head;
use super::target::known;
use super::{Cell, MAX_CELLS, Row, Table, TableError, column_letters, value};
use crate::record::slug;
use crate::text::count::{agreeing, counted};

/// How many non-empty rows from the top may be the header.
pub(super) const SEARCHED_ROWS: usize = 50;
/// How many known headers a row needs to be preferred over the first one.
const KNOWN_HEADS: usize = 2;

/// Other column headers for properties, as slugs: in English, German, French, Spanish and Italian, and
/// the commonest ones in Dutch, Portuguese, Polish, Swedish, Danish, Norwegian, Finnish, Czech,
/// Turkish, Russian, Ukrainian, Japanese, Chinese and Korean. Only unambiguous headers are included:
/// sources are evidence and never guessed, "alternatives" may be alternatives to the product, and
/// "stars" may be any number.
const SYNONYMS: [(&str, &str); 20] = [
    ("id", "identifier kennung identifiant identificador"),
    (
        "name",
        "title product product-name software software-name tool app application produkt \
         produktname bezeichnung titel nom nombre nome produit anwendung logiciel titre \
         called label pref-label resource benennung werkzeug programm namn navn naam nazwa \
         nazev nimi imie tytul titulo titolo produto ferramenta programma pakket nazvanie \
         название имя наименование продукт назва isim ad urun urun-adı yazılım 名称 名前 製品名 製品 \
         ツール名 ソフトウェア名 产品名称 软件名称 产品 软件 名稱 產品名稱 軟體名稱 이름 제품명 제품 소프트웨어 \
         nome-do-produto",
    ),
    (
        "url",
        "homepage website web-site web link site webseite internetseite webadresse site-web \
         sitio-web pagina-web url-oficial sito-web lien product-url website-url web-address \
         internet hyperlink home-page landing-page landingpage enlace sitio pagina sito \
         indirizzo-web collegamento ligacao hiperligacao endereco-web website-link webpagina \
         webadres strona strona-www strona-internetowa adres-www webbplats webbsida hemsida \
         lank netsted hjemmeside nettside nettsted lenke verkkosivu verkkosivusto kotisivu \
         linkki web-adresi web-sitesi baglantı webova-stranka webove-stranky odkaz stranky \
         саит веб-саит ссылка адрес-саита посилання адреса-саиту ウェブサイト サイト リンク ホームページ 公式サイト \
         网址 网站 链接 官网 網址 網站 連結 웹사이트 홈페이지 링크 주소",
    ),
    (
        "vendor",
        "company manufacturer supplier provider publisher hersteller anbieter firma \
         unternehmen fournisseur editeur entreprise maker developer \
         entwickler herausgeber empresa proveedor fabricante editor fornecedor \
         fornitore produttore azienda leverancier aanbieder bedrijf fabrikant uitgever \
         producent dostawca wydawca leverantor tillverkare foretag leverandør virksomhed \
         produsent selskap toimittaja valmistaja yritys dodavatel vyrobce vydavatel \
         spolecnost firma-producenta tedarikci uretici sirket satıcı поставщик производитель \
         разработчик компания вендор постачальник виробник розробник компанія 会社名 会社 提供元 開発元 \
         ベンダー メーカー 提供会社 厂商 供应商 公司 开发商 廠商 供應商 공급업체 제조사 회사 개발사 who-makes",
    ),
    (
        "tagline",
        "short-description summary subtitle kurzbeschreibung untertitel resume slogan \
         descripcion-corta kurztext one-liner in-one-sentence resumo samenvatting \
         korte-omschrijving descricao-curta krotki-opis kort-beskrivning kort-beskrivelse \
         kratky-popis lyhyt-kuvaus краткое-описание 概要 简介",
    ),
    (
        "description",
        "long-description details about beschreibung descriptif descripcion descrizione \
         descricao omschrijving beschrijving waarvoor opis beskrivning beskrivelse kuvaus \
         popis acıklama tanım описание опис 説明 描述 说明 說明 설명 what-does-do",
    ),
    (
        "categories",
        "category kategorie kategorien categorie rubrik categoria categorias \
         categoria-principal section abschnitt rubrique categories categorieen kategoria \
         kategori kategorier kategoriat luokka kategoriler категория категории категорія \
         категоріі カテゴリ カテゴリー 分類 类别 分类 類別 카테고리 분류 foaf-category",
    ),
    (
        "tags",
        "tag keywords schlagworte schlagwort schlagworter stichworte mots-cles etiquettes \
         etiquetas palabras-clave keyword stichworter trefwoorden palavras-chave \
         parole-chiave tagi slowa-kluczowe słowa-kluczowe nyckelord nøgleord nøkkelord \
         avainsanat klicova-slova anahtar-kelimeler теги ключевые-слова ключові-слова タグ \
         キーワード 标签 关键词 標籤 태그 키워드",
    ),
    (
        "features",
        "feature functions funktionen merkmale fonctionnalites fonctions funciones \
         caracteristicas funzionalita funcionalidades functies funkcje funktioner funksjoner \
         ominaisuudet funkce ozellikler функции функціі 機能 功能 기능",
    ),
    ("standards", "standard norms normen norm normes norme"),
    ("alternative_to", "replaces alternative-zu ersetzt alternative-a remplace"),
    ("aliases", "alias other-names also-known-as auch-bekannt-als andere-namen autres-noms"),
    ("deployment", "deployments hosting bereitstellung betrieb deploiement hebergement"),
    (
        "pricing",
        "price prices cost costs preis preise kosten prix tarif precio precios coste costo \
         prezzo prezzi preco precos custo prijs prijzen tarieven cena ceny koszt pris priser \
         hinta hinnat kustannukset fiyat ucret цена цены стоимость ціна вартість 価格 料金 价格 费用 \
         價格 費用 가격 비용 tarifs preismodell pricing-model",
    ),
    (
        "repository",
        "repo source-code code-repository git-repository quellcode github github-url \
         github-link",
    ),
    (
        "languages",
        "language sprache sprachen langue langues idioma idiomas lingua lingue taal talen \
         jezyk jezyki sprak sprog kieli kielet jazyk jazyky dil diller язык языки мова мови \
         言語 语言 語言 언어",
    ),
    ("evidence_status", "review-status prufstatus pruefstatus"),
    (
        "evidence_checked_on",
        "checked-on checked last-checked reviewed-on verified-on gepruft-am geprueft-am \
         pruefdatum prufdatum verifie-le last-reviewed last-verified date-checked check-date \
         zuletzt-gepruft stand-der-prufung verificado-el revisado-el comprobado-el \
         fecha-de-revision verificato-il controllato-il verificado-em revisto-em \
         gecontroleerd-op laatst-gecontroleerd sprawdzono data-sprawdzenia zweryfikowano \
         kontrollerad granskad senast-kontrollerad kontrolleret sidst-kontrolleret \
         kontrollert sist-kontrollert tarkistettu overeno zkontrolovano kontrol-tarihi \
         проверено дата-проверки перевірено дата-перевірки 確認日 最終確認日 检查日期 核实日期 檢查日期 \
         확인일",
    ),
    (
        "rating",
        "bewertung note-moyenne average-rating user-rating rating-average valoracion \
         calificacion valutazione avaliacao classificacao beoordeling waardering ocena betyg \
         bedømmelse vurdering arvosana hodnoceni puan degerlendirme реитинг оценка оцінка 評価 \
         评分 評分 평점",
    ),
    (
        "review_count",
        "reviews number-of-reviews anzahl-bewertungen nombre-d-avis rating-count ratings \
         number-of-ratings",
    ),
];

/// Words in headers that say only that the column is about the product, and words that join others.
const FILLERS: &str = "tool tools product products produkt produkts produktes produit produits producto prodotto \
     produto software softwares app apps application program programm programms programma anwendung applicatie werkzeug outil logiciel \
     herramienta ferramenta narzedzie verktyg item package paket pakket solution the a an of to for your our this its it is are \
     what which how much does do fits please enter der die das des dem den von vom zum zur de la le les du d l el \
     los las del il lo della dello do da dos het een van";
/// Words before a product's name in headers without a space, such as `toolnaam` and `Produktname`.
const PREFIXES: [&str; 6] = ["tool", "product", "produkt", "software", "programm", "app"];
/// Words that begin a unit: "price per month", "Preis pro Nutzer", "cost in EUR".
const PER: [&str; 7] = ["per", "pro", "par", "por", "je", "in", "out"];
/// Units that end a header.
const UNITS: [&str; 26] = [
    "eur",
    "euro",
    "euros",
    "usd",
    "dollar",
    "chf",
    "gbp",
    "month",
    "monat",
    "monats",
    "mois",
    "mes",
    "maand",
    "year",
    "jahr",
    "an",
    "ano",
    "monthly",
    "yearly",
    "annual",
    "annually",
    "monatlich",
    "jahrlich",
    "stars",
    "sterne",
    "max",
];

/// The property with this name or synonym.
pub(super) fn synonym(head: &str) -> Option<&'static str> {
    named(&slug(head))
}

fn named(folded: &str) -> Option<&'static str> {
    // A slug's Hangul is decomposed.
    let folded: String = folded.nfc().collect();
    let joined = folded.replace('-', "");
    let name = known(&folded.replace('-', "_")).filter(|name| *name != "category");
    let synonym = || {
        SYNONYMS
            .iter()
            .find(|(_, others)| others.split(' ').any(|other| other == folded || other.replace('-', "") == joined))
    };
    name.or_else(|| synonym().and_then(|(property, _)| known(property)))
}

/// The property that a column header stands for: as it is, or without parentheses, a namespace, units
/// and words that add nothing, such as the `tool_` in `tool_name`.
pub(super) fn property_of(head: &str) -> Option<&'static str> {
    if head.ends_with(LINK) {
        return None;
    }
    synonym(head).or_else(|| {
        let plain = slug(&apart(head));
        let mut words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
        let joined = || {
            let rest = PREFIXES.iter().find_map(|prefix| plain.strip_prefix(prefix));
            rest.filter(|rest| rest.len() > 2).and_then(named)
        };
        named(&plain).or_else(joined).or_else(|| {
            let unit = words.iter().skip(1).position(|word| PER.contains(word)).map(|at| at + 1);
            words.truncate(unit.filter(|at| at + 1 < words.len()).unwrap_or(words.len()));
            while words.len() > 1
                && words
                    .last()
                    .is_some_and(|word| UNITS.contains(word) || word.bytes().all(|byte| byte.is_ascii_digit()))
            {
                words.pop();
            }
            let by_unit = named(&words.join("-"));
            words.retain(|word| !FILLERS.split_whitespace().any(|filler| filler == *word));
            // "Vendor name" is the vendor.
            let of_other = || match &words[..] {
                [other @ .., "name" | "naam"] => {
                    named(&other.join("-")).filter(|name| matches!(*name, "vendor" | "categories"))
                }
                _ => None,
            };
            by_unit.or_else(|| named(&words.join("-"))).or_else(of_other)
        })
    })
}

/// A header without parentheses, a namespace (`foaf:homepage`) and a language (`label@en`), and with
/// joined words (`toolURL`) taken apart.
fn apart(head: &str) -> String {
    let head = head.split_once('@').map_or(head, |(head, _)| head);
    let is_namespace = |space: &str| !space.is_empty() && space.bytes().all(|byte| byte.is_ascii_lowercase());
    let head = head.split_once(':').filter(|(space, _)| is_namespace(space)).map_or(head, |(_, name)| name);
    let mut text = String::new();
    let mut depth = 0_usize;
    let mut chars = head.chars().peekable();
    let (mut before, mut is_upper) = (' ', false);
    while let Some(c) = chars.next() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ => {
                let ends_capitals =
                    is_upper && c.is_uppercase() && chars.peek().is_some_and(|next| next.is_lowercase());
                if (before.is_lowercase() && c.is_uppercase()) || ends_capitals {
                    text.push(' ');
                }
                text.push(c);
                (before, is_upper) = (c, c.is_uppercase());
            }
        }
    }
    text
}

/// The highest rating on the scale that a header states, such as `Rating (1–10)`, `Score /100` or
/// `Rating %`.
pub(super) fn rating_scale(head: &str) -> Option<u32> {
    const SCALES: [u32; 4] = [5, 10, 20, 100];
    let numbers: Vec<u32> =
        head.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect();
    match numbers[..] {
        [] if head.contains('%') => Some(100),
        [most] | [0 | 1, most] => SCALES.contains(&most).then_some(most),
        _ => None,
    }
}

/// Splits rows into headers and the rows below. Rows keep their widths.
pub(super) fn table(mut rows: Vec<Row>, header_row: Option<u64>, mut table: Table) -> Result<Table, TableError> {
    if rows.is_empty() {
        return Err(TableError::NoRows);
    }
    let index = match header_row {
        None => find(&rows),
        Some(number) => rows.iter().position(|row| row.number == number).ok_or_else(|| {
            TableError::Form(format!(
                "row {number}, given by --header-row, is empty; specify the row that contains the headers"
            ))
        })?,
    };
    let above: Vec<_> = rows.drain(..index).collect();
    let header = rows.remove(0);
    if !above.is_empty() {
        let shown = above.iter().flat_map(|row| &row.cells).find_map(Cell::text).unwrap_or_default();
        let shown: String = shown.chars().take(40).collect();
        table.notes.push(format!(
            "row {} contains the headers; ignored above it: {} such as `{shown}` (use --header-row to choose another)",
            header.number,
            counted(above.len(), "row")
        ));
    }
    table.heads = header.cells.iter().map(head).collect();
    let heads = table.heads.clone();
    let repeats = |row: &Row| {
        let of = |column: usize| heads.get(column).map_or("", String::as_str);
        (0..heads.len().max(row.cells.len()))
            .all(|column| row.cells.get(column).map(head).unwrap_or_default() == of(column))
    };
    let repeated: Vec<_> = rows.iter().filter(|row| repeats(row)).map(|row| row.number.to_string()).collect();
    if !repeated.is_empty() && table.heads.iter().filter(|head| !head.is_empty()).count() > 1 {
        rows.retain(|row| !repeats(row));
        let (they, noun) = agreeing(repeated.len(), ("it repeats", "row"), ("they repeat", "rows"));
        table.notes.push(format!("left out because {they} the headers: {noun} {}", repeated.join(", ")));
    }
    let filled = |row: &Row| row.cells.iter().rposition(|cell| *cell != Cell::Empty).map_or(0, |last| last + 1);
    let widest = rows.iter().map(filled).max().unwrap_or_default();
    let named = table.heads.iter().rposition(|head| !head.is_empty()).map_or(0, |last| last + 1);
    table.heads.truncate(named.max(widest));
    table.rows = rows;
    leave_out_totals(&mut table);
    read_sections(&mut table);
    name_repeated(&mut table);
    Ok(table)
}

/// Names of groups of columns that say nothing about the columns, besides the words for a product.
const GENERAL: &str =
    "general allgemein allgemeines stammdaten basisdaten basics overview details information informationen info infos";

/// Puts the names of groups of columns before their headers, unless the group is the product itself or
/// one of its properties: a contact's name isn't the product's, nor is a vendor's address.
pub(super) fn join(top: &Row, header: &mut Row) {
    header.cells.resize(header.cells.len().max(top.cells.len()), Cell::Empty);
    for (cell, above) in header.cells.iter_mut().zip(&top.cells) {
        let (group, name) = (head(above), head(cell));
        let words = slug(&group);
        let is_general = words.split('-').all(|word| FILLERS.split(' ').chain(GENERAL.split(' ')).any(|of| of == word));
        let (of_group, of_name) = (property_of(&group), property_of(&name));
        let is_own =
            of_name.is_some() && (of_group == of_name || of_group.is_some_and(|of| !matches!(of, "vendor" | "name")));
        if group != name && !(is_own || is_general && !name.is_empty()) {
            *cell = Cell::Text(format!("{group} {name}").trim().to_owned());
        }
    }
}

/// Words that begin a row of totals, as slugs.
const TOTALS: &str = "total totals totale totaal totalt sum summe gesamt gesamtsumme insgesamt somme suma subtotal zwischensumme \
     grand-total sous-total razem celkem yhteensa toplam итого всего разом 合計 合计 总计 總計 합계";
/// Words that begin a remark below a table, as slugs.
const REMARKS: &str = "source sources quelle quellen fonte fuente bron note notes hinweis anmerkung legend legende stand as-of remarque nota";

/// Leaves out rows of totals, and remarks below the table.
fn leave_out_totals(table: &mut Table) {
    let is_one_of = |words: &str, text: &str| {
        let first = slug(text.split([':', '(']).next().unwrap_or_default());
        words.split_whitespace().any(|word| word == first)
    };
    let is_total = |row: &Row| {
        let mut filled = row.cells.iter().filter(|cell| **cell != Cell::Empty);
        let first = filled.next().and_then(Cell::text).unwrap_or_default();
        let is_number = |cell: &Cell| match cell {
            Cell::Number(_) | Cell::Formula(_) | Cell::Error(_) => true,
            cell => {
                cell.text().is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit() || "€$£-+~".contains(c)))
            }
        };
        is_one_of(TOTALS, first.trim_end_matches(|c: char| c.is_ascii_digit() || c.is_whitespace()))
            && filled.all(is_number)
    };
    let is_remark = |row: &Row| {
        let mut filled = row.cells.iter().filter(|cell| **cell != Cell::Empty);
        let first = filled.next().and_then(Cell::text).unwrap_or_default();
        filled.next().is_none() && (first.starts_with(['*', '¹']) || (first.contains(':') && is_one_of(REMARKS, first)))
    };
    if table.heads.iter().filter(|head| !head.is_empty()).count() < 2 {
        return;
    }
    let mut left_out: Vec<(u64, String)> = Vec::new();
    let shown =
        |row: &Row| row.cells.iter().map(Cell::shown).find(|text| !text.is_empty()).unwrap_or_default().to_owned();
    while let Some(row) =
        table.rows.pop_if(|row| row.cells.iter().all(|cell| *cell == Cell::Empty) || is_remark(row) || is_total(row))
    {
        left_out.extend(Some((row.number, shown(&row))).filter(|(_, text)| !text.is_empty()));
    }
    table.rows.retain(|row| {
        let is_total = is_total(row);
        left_out.extend(is_total.then(|| (row.number, shown(row))));
        !is_total
    });
    left_out.sort();
    for (number, text) in left_out {
        let text: String = text.chars().take(40).collect();
        table.notes.push(format!("left out because it isn't a product but a total or a remark: row {number} `{text}`"));
    }
}

/// The end of the header of a column with the addresses of another column's links.
pub(super) const LINK: &str = " (link)";
/// The header of the column with the headings of sections.
pub(super) const SECTION: &str = "Section";

/// Reads rows with a single cell as headings of the rows below them, and adds a column for them, if the
/// table begins with such a row, none is empty, and no column contains categories.
fn read_sections(table: &mut Table) {
    let is_heading = |row: &Row| {
        let mut filled = row.cells.iter().filter(|cell| **cell != Cell::Empty);
        filled.next().and_then(Cell::text).is_some_and(|text| !value::is_address(text)) && filled.next().is_none()
    };
    let headings: Vec<bool> = table.rows.iter().map(is_heading).collect();
    let named = |name: &str| table.heads.iter().any(|head| head == SECTION || property_of(head) == Some(name));
    let is_sectioned = headings.first() == Some(&true)
        && headings.last() == Some(&false)
        && headings.windows(2).all(|pair| pair != [true, true])
        && table.heads.iter().filter(|head| !head.is_empty()).count() > 1
        && table.rows.iter().all(|row| row.cells.len() <= table.heads.len())
        && !named("categories");
    if !is_sectioned {
        return;
    }
    let column = table.heads.len();
    let (mut heading, mut numbers) = (Cell::Empty, Vec::new());
    for (row, is_heading) in table.rows.iter_mut().zip(&headings) {
        if *is_heading {
            numbers.push(row.number.to_string());
            heading = row.cells.iter().find(|cell| **cell != Cell::Empty).cloned().unwrap_or(Cell::Empty);
            row.cells.clear();
        } else {
            row.cells.resize(column, Cell::Empty);
            row.cells.push(heading.clone());
        }
    }
    table.rows.retain(|row| !row.cells.is_empty());
    table.heads.push(SECTION.to_owned());
    let noun = agreeing(numbers.len(), "row", "rows");
    table.notes.push(format!("read as headings of sections, in the column `{SECTION}`: {noun} {}", numbers.join(", ")));
}

fn find(rows: &[Row]) -> usize {
    let searched = &rows[..rows.len().min(SEARCHED_ROWS)];
    let known = |row: &Row| row.cells.iter().filter(|cell| is_known_head(&head(cell))).count();
    let filled = |row: &Row| row.cells.iter().filter(|cell| **cell != Cell::Empty).count();
    let most = searched.iter().map(known).max().unwrap_or_default();
    if most >= KNOWN_HEADS {
        return searched.iter().position(|row| known(row) == most).unwrap_or_default();
    }
    // A title is a row with a single filled cell, above rows with several.
    let widest = searched.iter().map(filled).max().unwrap_or_default();
    searched.iter().position(|row| widest == 1 || filled(row) > 1).unwrap_or_default()
}

fn head(cell: &Cell) -> String {
    let text = cell.text().unwrap_or_default();
    let text = value::unguarded(text);
    if text.starts_with("json:") {
        // The property name after the prefix is kept unchanged.
        return text;
    }
    text.split_whitespace().map(value::trim).collect::<Vec<_>>().join(" ")
}

/// Appends the column's letter to each repeated header.
fn name_repeated(table: &mut Table) {
    let mut columns: HashMap<String, Vec<usize>> = HashMap::new();
    for (column, head) in table.heads.iter().enumerate().filter(|(_, head)| !head.is_empty()) {
        columns.entry(head.clone()).or_default().push(column);
    }
    let mut repeated: Vec<_> = columns.into_values().filter(|columns| columns.len() > 1).collect();
    repeated.sort_unstable();
    for column in repeated.iter().flat_map(|columns| &columns[1..]) {
        let mut name = format!("{} (column {})", table.heads[*column], column_letters(*column));
        while table.heads.contains(&name) {
            name.push('\'');
        }
        table.heads[*column] = name;
    }
    table.repeated = repeated;
}

/// Resizes each row to one cell per header, and reports what the columns without a header contain.
pub(super) fn square(table: &mut Table) {
    let width = table.heads.len();
    for row in &mut table.rows {
        row.cells.resize(width, Cell::Empty);
    }
    for column in (0..width).filter(|column| table.heads[*column].is_empty()) {
        let mut filled = table.rows.iter().map(|row| &row.cells[column]).filter(|cell| **cell != Cell::Empty);
        let Some(first) = filled.next() else { continue };
        let shown: String = first.text().unwrap_or_default().chars().take(40).collect();
        table.notes.push(format!(
            "left out: column {} has no header; cells with a value: {}, such as `{shown}` (give it a header to use it)",
            column_letters(column),
            filled.count() + 1
        ));
    }
}

/// Rejects tables with too many cells, i.e. columns times rows.
pub(super) fn check_area(table: &Table) -> Result<(), TableError> {
    if table.heads.len().saturating_mul(table.rows.len()) > MAX_CELLS { Err(TableError::TooManyCells) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization as _;

    use super::SYNONYMS;
    use crate::curate::tabular::{ReadOptions, Table, parse};
    use crate::record::slug;

    #[test]
    fn synonyms_are_slugs() {
        let words = SYNONYMS.iter().flat_map(|(_, words)| words.split(' '));
        let wrong: Vec<&str> = words.filter(|word| slug(word).nfc().ne(word.chars())).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    fn read(csv: &str, header_row: Option<u64>) -> Table {
        let options = ReadOptions { header_row, ..ReadOptions::default() };
        parse(csv.as_bytes(), "csv", options, &|_, _| {}).expect("a table")
    }

    #[test]
    fn headers_are_found_below_titles() {
        let table = read("# exported 2025,\n\nName,Website\nA,https://a.example/\n", None);
        assert_eq!((table.heads.join(" "), table.rows[0].number), ("Name Website".into(), 4));
        assert!(table.notes[0].starts_with("row 3 contains the headers"), "{:?}", table.notes);
        let table = read("Software\nFoo,Bar\na,b\n", None);
        assert_eq!(table.heads, ["Foo", "Bar"]);
        let table = read("Foo,Bar\nName,Website\na,b\n", Some(1));
        assert_eq!((table.heads.join(" "), table.rows.len()), ("Foo Bar".into(), 2));
        let table = read("Title\nSoftware\n", None);
        assert_eq!((table.heads.join(" "), table.rows.len()), ("Title".into(), 1));
    }

    #[test]
    fn repeated_headers_are_distinguished_by_their_columns() {
        let table = read("Name,Website,Website\na,b,c\n", None);
        assert_eq!(table.heads, ["Name", "Website", "Website (column C)"]);
        assert_eq!(table.repeated, [vec![1, 2]]);
    }

    #[test]
    fn a_row_that_repeats_the_headers_is_left_out_and_reported() {
        let table = read("Name,Website\na,b\nName,Website\nc,d\n", None);
        assert_eq!(table.rows.len(), 2);
        assert!(table.notes[0].ends_with("it repeats the headers: row 3"), "{:?}", table.notes);
    }

    #[test]
    fn columns_without_headers_are_reported_once() {
        let table = read("Name,Website,,,\na,b,,secret,\nc,d,,x,\n", None);
        assert_eq!(
            table.notes,
            ["left out: column D has no header; cells with a value: 2, such as `secret` (give it a header to use it)"]
        );
        assert!(read("Name,Website,,,\na,b,,,\n", None).notes.is_empty());
    }

    #[test]
    fn invisible_characters_are_not_part_of_a_header() {
        let table = read("Name\u{a0},\u{200b}Website,Last\u{a0}checked\nA\u{a0},\u{200b}https://a.example/ ,x\n", None);
        assert_eq!(table.heads, ["Name", "Website", "Last checked"]);
        assert_eq!(table.rows[0].cells[1].text(), Some("https://a.example/"));
    }
}
