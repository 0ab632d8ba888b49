// Package batch is the columnar batch that everybody passes: types, typed vectors in Arrow's layout, validity,
// dictionary codes and a selection. It knows nothing of files, tables or SQL.
//
// A Vector is one column. It is made with NewVector, filled by its Append methods, and read through the field that its type's Layout names,
// or through BytesAt, DecimalAt and the slow Value. A vector may be dictionary encoded; who cannot use codes calls Decode. A Batch is
// vectors of one length with an optional selection; Compact applies it. Builder gathers rows.
//
// A nested type is made by StructOf, ListOf or MapOf, and compares with == as any other. Its vector has Children; rows are added to those, then
// EndRow is called. AppendJSON and AppendFromJSON are what nested values look like to people, ParseType reads Spark's SQL for all types.
//
// The texts of decimals, dates and timestamps are read and written here too, exactly: ParseDecimal refuses to round, dates are proleptic
// Gregorian from years far below 0 to far beyond 9999.
package batch
