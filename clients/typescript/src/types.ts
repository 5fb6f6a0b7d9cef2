// Names for the API's records and parameters. They all come from schema.ts, and so from the server's OpenAPI document;
// nothing is written by hand.

import type { components, operations } from "./schema.js";

type Schemas = components["schemas"];

export type Attribute = Schemas["Attribute"];
export type AttributeList = Schemas["AttributeList"];
export type Category = Schemas["Category"];
export type CategoryList = Schemas["CategoryList"];
export type CategoryRef = Schemas["CategoryRef"];
export type CategorySuggestion = Schemas["CategorySuggestion"];
export type Change = Schemas["Change"];
export type ChangeList = Schemas["ChangeList"];
export type Export = Schemas["Export"];
export type ExportList = Schemas["ExportList"];
export type ExportRef = Schemas["ExportRef"];
export type FacetValue = Schemas["FacetValue"];
export type GlossaryList = Schemas["GlossaryList"];
export type GlossarySource = Schemas["GlossarySource"];
export type GlossaryTerm = Schemas["GlossaryTerm"];
export type Highlight = Schemas["Highlight"];
export type Pagination = Schemas["Pagination"];
export type ParameterProblem = Schemas["ParameterProblem"];
export type Problem = Schemas["Problem"];
export type QueryReport = Schemas["QueryReport"];
export type RatingDistribution = Schemas["RatingDistribution"];
export type Reason = Schemas["Reason"];
export type Replacement = Schemas["Replacement"];
export type Review = Schemas["Review"];
export type ReviewList = Schemas["ReviewList"];
export type ReviewSummary = Schemas["ReviewSummary"];
export type SameAs = Schemas["SameAs"];
export type SearchHit = Schemas["SearchHit"];
export type SearchResult = Schemas["SearchResult"];
export type Shared = Schemas["Shared"];
export type HistoryEntry = Schemas["HistoryEntry"];
export type HistoryList = Schemas["HistoryList"];
export type PropertyChange = Schemas["PropertyChange"];
export type SimilarList = Schemas["SimilarList"];
export type SimilarSoftware = Schemas["SimilarSoftware"];
export type Skipped = Schemas["Skipped"];
export type SoftwareDetail = Schemas["SoftwareDetail"];
export type SoftwareItem = Schemas["SoftwareItem"];
export type SoftwareList = Schemas["SoftwareList"];
export type SoftwareRef = Schemas["SoftwareRef"];
export type Source = Schemas["Source"];
export type Suggestions = Schemas["Suggestions"];
export type TermSuggestion = Schemas["TermSuggestion"];
export type TextRange = Schemas["TextRange"];

export type UnknownValue = Schemas["UnknownValue"];

/** What a product in a list always has, unless the request selects `fields`. */
type Whole = Omit<SimilarSoftware, "score" | "shared">;

/** A list of products. With `fields`, only the selected members are there. */
export type Listed<List extends { data: unknown[] }, Params> = Params extends { fields: NonNullable<unknown> }
  ? List
  : Omit<List, "data"> & { data: (List["data"][number] & Whole)[] };

type QueryOf<Name extends keyof operations> = NonNullable<operations[Name]["parameters"]["query"]>;

/** A parameter's value. If the API takes `"true"` and `"false"`, it may also be a boolean. */
type Value<Given> = Given extends "true" | "false" ? Given | boolean : Given;

/** Parameters. A repeatable one takes a value or an array; null and undefined leave a parameter out. */
type Parameters<Query> = {
  [Name in keyof Query]?:
    | (NonNullable<Query[Name]> extends readonly (infer One)[] ? One | readonly One[] : Value<Query[Name]>)
    | null
    | undefined;
};

export type AttributeListParams = Parameters<QueryOf<"listAttributes">>;
export type CategoryListParams = Parameters<QueryOf<"listCategories">>;
export type ChangesParams = Omit<Parameters<QueryOf<"listChanges">>, "since">;
export type ExportDownloadParams = Parameters<QueryOf<"getExport">>;
export type ExportListParams = Parameters<QueryOf<"listExports">>;
export type GlossaryListParams = Parameters<QueryOf<"listGlossary">>;
export type ReviewListParams = Parameters<QueryOf<"listReviews">>;
export type SearchProductsParams = Parameters<QueryOf<"searchSoftware">>;
export type HistoryParams = Parameters<QueryOf<"listSoftwareHistory">>;
export type SimilarListParams = Parameters<QueryOf<"listSimilarSoftware">>;
export type SoftwareListParams = Parameters<QueryOf<"listSoftware">>;
export type SuggestParams = Parameters<QueryOf<"suggest">>;
