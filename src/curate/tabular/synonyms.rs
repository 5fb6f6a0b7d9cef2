//! Which property a column's header stands for, in many languages.

use unicode_normalization::UnicodeNormalization as _;

use super::target::known;
use crate::record::slug;

/// The end of the header of a column with the addresses of another column's links.
pub(super) const LINK: &str = " (link)";
/// The header of the column with the headings of sections.
pub(super) const SECTION: &str = "Section";

/// Other column headers for properties, as slugs: in English, German, French, Spanish and Italian, and
/// the commonest ones in Dutch, Portuguese, Polish, Swedish, Danish, Norwegian, Finnish, Czech,
/// Turkish, Russian, Ukrainian, Japanese, Chinese and Korean. Only unambiguous headers are included:
/// sources are evidence and never guessed, "alternatives" may be alternatives to the product, and
/// "stars" may be any number.
const SYNONYMS: [(&str, &str); 20] = [
    ("id", "identifier kennung identifiant identificador"),
    (
        "name",
        "title product product-name software software-name tool app application produkt produktname bezeichnung \
         titel nom nombre nome produit anwendung logiciel titre called label pref-label resource benennung werkzeug \
         programm namn navn naam nazwa nazev nimi imie tytul titulo titolo produto ferramenta programma pakket \
         nazvanie название имя наименование продукт назва isim ad urun urun-adı yazılım 名称 名前 製品名 製品 ツール名 ソフトウェア名 \
         产品名称 软件名称 产品 软件 名稱 產品名稱 軟體名稱 이름 제품명 제품 소프트웨어 nome-do-produto",
    ),
    (
        "url",
        "homepage website web-site web link site webseite internetseite webadresse site-web sitio-web pagina-web \
         url-oficial sito-web lien product-url website-url web-address internet hyperlink home-page landing-page \
         landingpage enlace sitio pagina sito indirizzo-web collegamento ligacao hiperligacao endereco-web \
         website-link webpagina webadres strona strona-www strona-internetowa adres-www webbplats webbsida hemsida \
         lank netsted hjemmeside nettside nettsted lenke verkkosivu verkkosivusto kotisivu linkki web-adresi \
         web-sitesi baglantı webova-stranka webove-stranky odkaz stranky саит веб-саит ссылка адрес-саита посилання \
         адреса-саиту ウェブサイト サイト リンク ホームページ 公式サイト 网址 网站 链接 官网 網址 網站 連結 웹사이트 홈페이지 링크 주소",
    ),
    (
        "vendor",
        "company manufacturer supplier provider publisher hersteller anbieter firma unternehmen fournisseur editeur \
         entreprise maker developer entwickler herausgeber empresa proveedor fabricante editor fornecedor fornitore \
         produttore azienda leverancier aanbieder bedrijf fabrikant uitgever producent dostawca wydawca leverantor \
         tillverkare foretag leverandør virksomhed produsent selskap toimittaja valmistaja yritys dodavatel vyrobce \
         vydavatel spolecnost firma-producenta tedarikci uretici sirket satıcı поставщик производитель разработчик \
         компания вендор постачальник виробник розробник компанія 会社名 会社 提供元 開発元 ベンダー メーカー 提供会社 厂商 供应商 公司 开发商 廠商 供應商 \
         공급업체 제조사 회사 개발사 who-makes",
    ),
    (
        "tagline",
        "short-description short-desc short-descr descripcion-breve breve-descripcion summary subtitle kurzbeschreibung untertitel resume slogan descripcion-corta kurztext \
         one-liner in-one-sentence resumo samenvatting korte-omschrijving descricao-curta krotki-opis \
         kort-beskrivning kort-beskrivelse kratky-popis lyhyt-kuvaus краткое-описание 概要 简介",
    ),
    (
        "description",
        "long-description desc descr details about beschreibung descriptif descripcion descrizione descricao omschrijving \
         beschrijving waarvoor opis beskrivning beskrivelse kuvaus popis acıklama tanım описание опис 説明 描述 说明 說明 설명 \
         what-does-do",
    ),
    (
        "categories",
        "category kategorie kategorien categorie rubrik categoria categorias categoria-principal section abschnitt \
         rubrique categories categorieen kategoria kategori kategorier kategoriat luokka kategoriler категория \
         категории категорія категоріі カテゴリ カテゴリー 分類 类别 分类 類別 카테고리 분류 foaf-category",
    ),
    (
        "tags",
        "tag keywords schlagworte schlagwort schlagworter stichworte mots-cles etiquettes etiquetas palabras-clave \
         keyword stichworter trefwoorden palavras-chave parole-chiave tagi slowa-kluczowe słowa-kluczowe nyckelord \
         nøgleord nøkkelord avainsanat klicova-slova anahtar-kelimeler теги ключевые-слова ключові-слова タグ キーワード 标签 \
         关键词 標籤 태그 키워드",
    ),
    (
        "features",
        "feature key-features main-features functions funktionen hauptfunktionen funcionalidades-clave fonctionnalites-cles merkmale fonctionnalites fonctions funciones caracteristicas funzionalita \
         funcionalidades functies funkcje funktioner funksjoner ominaisuudet funkce ozellikler функции функціі 機能 功能 \
         기능",
    ),
    ("standards", "standard norms normen norm normes norme"),
    ("alternative_to", "replaces alternative-zu ersetzt alternative-a remplace"),
    ("aliases", "alias other-names also-known-as auch-bekannt-als andere-namen autres-noms"),
    ("deployment", "deployments hosting bereitstellung betrieb deploiement hebergement"),
    (
        "pricing",
        "price prices cost costs preis preise kosten prix tarif precio precios coste costo prezzo prezzi preco \
         precos custo prijs prijzen tarieven cena ceny koszt pris priser hinta hinnat kustannukset fiyat ucret цена \
         цены стоимость ціна вартість 価格 料金 价格 费用 價格 費用 가격 비용 tarifs preismodell pricing-model precio-modelo modelo-de-precio cost-model price-model license-cost pricing-plan",
    ),
    (
        "repository",
        "repo source-code code-repository git-repository quellcode github github-url github-link repo-url repository-url \
         repo-link git-url git-repo github-repo github-repository source-code-url code-url gitlab gitlab-url codeberg",
    ),
    (
        "languages",
        "language ui-language ui-languages interface-language interface-languages idioma-interfaz sprache sprachen langue langues idioma idiomas lingua lingue taal talen jezyk jezyki sprak sprog \
         kieli kielet jazyk jazyky dil diller язык языки мова мови 言語 语言 語言 언어",
    ),
    ("evidence_status", "review-status prufstatus pruefstatus"),
    (
        "evidence_checked_on",
        "checked-on checked last-checked reviewed-on verified-on gepruft-am geprueft-am pruefdatum prufdatum \
         verifie-le last-reviewed last-verified date-checked check-date zuletzt-gepruft stand-der-prufung \
         verificado-el revisado-el comprobado-el fecha-de-revision verificato-il controllato-il verificado-em \
         revisto-em gecontroleerd-op laatst-gecontroleerd sprawdzono data-sprawdzenia zweryfikowano kontrollerad \
         granskad senast-kontrollerad kontrolleret sidst-kontrolleret kontrollert sist-kontrollert tarkistettu \
         overeno zkontrolovano kontrol-tarihi проверено дата-проверки перевірено дата-перевірки 確認日 最終確認日 检查日期 核实日期 \
         檢查日期 확인일",
    ),
    (
        "rating",
        "bewertung note-moyenne average-rating user-rating rating-average valoracion calificacion valutazione \
         avaliacao classificacao beoordeling waardering ocena betyg bedømmelse vurdering arvosana hodnoceni puan \
         degerlendirme реитинг оценка оцінка 評価 评分 評分 평점",
    ),
    (
        "review_count",
        "reviews number-of-reviews anzahl-bewertungen nombre-d-avis rating-count ratings number-of-ratings",
    ),
];

/// Words in headers that say only that the column is about the product, and words that join others.
pub(super) const FILLERS: &str = "tool tools product products produkt produkts produktes produit produits producto prodotto \
     produto software softwares app apps application program programm programms programma anwendung applicatie werkzeug outil logiciel \
     herramienta ferramenta narzedzie verktyg item package paket pakket solution the a an of to for your our this its it is are \
     what which how much does do fits please enter der die das des dem den von vom zum zur de la le les du d l el \
     los las del il lo della dello do da dos het een van";
/// Words before a product's name in headers without a space, such as `toolnaam` and `Produktname`.
const PREFIXES: [&str; 6] = ["tool", "product", "produkt", "software", "programm", "app"];
/// Words that begin a unit: "price per month", "Preis pro Nutzer", "cost in EUR".
const PER: [&str; 7] = ["per", "pro", "par", "por", "je", "in", "out"];
/// Units that end a header.
const UNITS: &str = "eur euro euros usd dollar chf gbp month monat monats mois mes maand year jahr an ano monthly yearly annual \
     annually monatlich jahrlich stars sterne max";

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
                && words.last().is_some_and(|word| {
                    UNITS.split(' ').any(|unit| unit == *word) || word.bytes().all(|byte| byte.is_ascii_digit())
                })
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

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization as _;

    use super::SYNONYMS;
    use crate::record::slug;

    #[test]
    fn synonyms_are_slugs() {
        let words = SYNONYMS.iter().flat_map(|(_, words)| words.split(' '));
        let wrong: Vec<&str> = words.filter(|word| slug(word).nfc().ne(word.chars())).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
