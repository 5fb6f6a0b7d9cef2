//! Column headers in English, German, French, Spanish and Italian for a record's properties.
//!
//! Only unambiguous headers are included: sources are evidence and never guessed, "alternatives"
//! may be alternatives to the product, and "stars" may be any number.

use crate::record::slug;

/// Other headers for properties, as slugs.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("id", &["identifier", "kennung", "identifiant"]),
    (
        "name",
        &[
            "title",
            "product",
            "product-name",
            "software",
            "software-name",
            "tool",
            "app",
            "application",
            "produkt",
            "produktname",
            "bezeichnung",
            "titel",
            "nom",
            "nombre",
            "nome",
            "produit",
            "anwendung",
            "logiciel",
            "titre",
        ],
    ),
    (
        "url",
        &[
            "homepage",
            "website",
            "web-site",
            "web",
            "link",
            "site",
            "webseite",
            "internetseite",
            "webadresse",
            "site-web",
            "sitio-web",
            "pagina-web",
            "url-oficial",
            "sito-web",
            "lien",
            "product-url",
            "website-url",
            "web-address",
            "internet",
        ],
    ),
    (
        "vendor",
        &[
            "company",
            "manufacturer",
            "supplier",
            "provider",
            "publisher",
            "hersteller",
            "anbieter",
            "firma",
            "unternehmen",
            "fournisseur",
            "editeur",
            "entreprise",
        ],
    ),
    (
        "tagline",
        &[
            "short-description",
            "summary",
            "subtitle",
            "kurzbeschreibung",
            "untertitel",
            "resume",
            "slogan",
            "descripcion-corta",
        ],
    ),
    (
        "description",
        &["long-description", "details", "about", "beschreibung", "descriptif", "descripcion", "descrizione"],
    ),
    (
        "categories",
        &[
            "category",
            "kategorie",
            "kategorien",
            "categorie",
            "rubrik",
            "categoria",
            "categorias",
            "categoria-principal",
        ],
    ),
    (
        "tags",
        &[
            "tag",
            "keywords",
            "schlagworte",
            "schlagwort",
            "schlagworter",
            "stichworte",
            "mots-cles",
            "etiquettes",
            "etiquetas",
            "palabras-clave",
        ],
    ),
    ("features", &["feature", "functions", "funktionen", "merkmale", "fonctionnalites", "fonctions"]),
    ("standards", &["standard", "norms", "normen", "norm", "normes", "norme"]),
    ("alternative_to", &["replaces", "alternative-zu", "ersetzt", "alternative-a", "remplace"]),
    ("aliases", &["alias", "other-names", "also-known-as", "auch-bekannt-als", "andere-namen", "autres-noms"]),
    ("deployment", &["deployments", "hosting", "bereitstellung", "betrieb", "deploiement", "hebergement"]),
    ("pricing", &["price", "prices", "cost", "preis", "preise", "kosten", "prix", "tarif"]),
    ("languages", &["language", "sprache", "sprachen", "langue", "langues", "idioma", "idiomas"]),
    ("evidence_status", &["review-status", "prufstatus", "pruefstatus"]),
    (
        "evidence_checked_on",
        &[
            "checked-on",
            "checked",
            "last-checked",
            "reviewed-on",
            "verified-on",
            "gepruft-am",
            "geprueft-am",
            "pruefdatum",
            "prufdatum",
            "verifie-le",
        ],
    ),
    ("rating", &["bewertung", "note-moyenne"]),
    ("review_count", &["reviews", "number-of-reviews", "anzahl-bewertungen", "nombre-d-avis"]),
];

/// The property that a column header stands for. Headers are compared as slugs.
pub(super) fn property_of(head: &str) -> Option<&'static str> {
    let folded = slug(head);
    SYNONYMS.iter().find(|(_, others)| others.contains(&folded.as_str())).map(|(property, _)| *property)
}
