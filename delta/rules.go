package delta

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lakesql/batch"
)

// The keys of column metadata that hold rules, each a SQL text, and the prefix of the properties that are a table's constraints.
const (
	GenerationKey    = "delta.generationExpression"
	DefaultKey       = "CURRENT_DEFAULT"
	ConstraintPrefix = "delta.constraints."

	invariantsKey = "delta.invariants"
)

// RowSource says where the rows of a FileWriter come from, and so which of the table's rules apply to them.
type RowSource uint8

// The sources of rows.
const (
	NewRows     RowSource = iota // made by a statement or a stream: every rule applies
	ChangedRows                  // the table's own rows, some changed: as NewRows, but values of identity columns are taken as they are
	MovedRows                    // the table's own rows, unchanged: no rule is looked at, and every column is given
)

// rules are what a table asks of the rows that are written to it.
type rules struct {
	schema    *batch.Schema
	source    RowSource
	checks    ruleSet // conditions that each row must meet
	generated ruleSet
	defaults  ruleSet
	identity  []*identity
	lengths   []lengthLimit
}

// ruleSet are expressions that are evaluated together, compiled at their first use.
type ruleSet struct {
	names   []string // for messages
	exprs   []Expression
	columns []int // whose values they are; nil for conditions

	evaluator Evaluator // nil: there is none
	compiled  Evaluation
}

func (s *ruleSet) add(name, sql string, t batch.Type) {
	s.names, s.exprs = append(s.names, name), append(s.exprs, Expression{sql, t})
}

func (s *ruleSet) addColumn(i int, f batch.Field, what, key string) {
	s.add(what+" "+f.Name, f.MetadataText(key), f.Type)
	s.columns = append(s.columns, i)
}

// eval evaluates the expressions over the columns of b.
func (s *ruleSet) eval(ctx context.Context, b *batch.Batch) ([]*batch.Vector, error) {
	if s.evaluator == nil {
		return nil, s.refused()
	}
	if s.compiled == nil {
		var err error
		if s.compiled, err = s.evaluator.Compile(ctx, b.Schema, s.exprs); err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(s.names, ", "), err)
		}
	}
	return s.compiled.Eval(ctx, b)
}

// refused says that the expressions cannot be evaluated here.
func (s *ruleSet) refused() error {
	return &UnsupportedError{Op: "write", Features: s.names, Detail: "they are SQL, and nothing here evaluates it"}
}

// newRules reads the rules of a table. A table that needs an evaluator is refused without one.
func newRules(meta *Metadata, schema *batch.Schema, evaluator Evaluator, source RowSource) (*rules, error) {
	r := &rules{schema: schema, source: source}
	for _, s := range []*ruleSet{&r.checks, &r.generated, &r.defaults} {
		s.evaluator = evaluator
	}
	if err := r.readChecks(meta); err != nil {
		return nil, err
	}
	for i, f := range schema.Fields {
		if f.Metadata[GenerationKey] != "" {
			r.generated.addColumn(i, f, "generated column", GenerationKey)
		}
		if f.Metadata[DefaultKey] != "" {
			r.defaults.addColumn(i, f, "default of column", DefaultKey)
		}
		if limit, ok := lengthLimitOf(i, f); ok {
			r.lengths = append(r.lengths, limit)
		}
		id, err := identityOf(i, f)
		if err != nil {
			return nil, err
		}
		if id != nil {
			r.identity = append(r.identity, id)
		}
	}
	for _, s := range []*ruleSet{&r.checks, &r.generated} {
		if evaluator == nil && len(s.exprs) > 0 {
			return nil, s.refused()
		}
	}
	return r, nil
}

// readChecks takes the table's CHECK constraints and its columns' invariants.
func (r *rules) readChecks(meta *Metadata) error {
	for _, k := range sortedKeys(meta.Configuration) {
		if name, ok := strings.CutPrefix(k, ConstraintPrefix); ok {
			r.checks.add(fmt.Sprintf("CHECK constraint %s (%s)", name, meta.Configuration[k]), meta.Configuration[k], batch.Type{Kind: batch.Bool})
		}
	}
	return eachStructField(r.schema.Fields, func(path string, f batch.Field) error {
		expr, err := invariantOf(path, f)
		if expr != "" {
			r.checks.add(fmt.Sprintf("invariant of column %s (%s)", path, expr), expr, batch.Type{Kind: batch.Bool})
		}
		return err
	})
}

// invariantOf is the condition in a column's metadata: a SQL text, or that in the JSON {"expression":{"expression":"..."}}.
func invariantOf(path string, f batch.Field) (string, error) {
	if f.Metadata[invariantsKey] == "" {
		return "", nil
	}
	text := f.MetadataText(invariantsKey)
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		var in struct {
			Expression struct {
				Expression string `json:"expression"`
			} `json:"expression"`
		}
		if err := json.Unmarshal([]byte(text), &in); err != nil {
			return "", fmt.Errorf("%w: %s of column %s: %w", ErrCorrupt, invariantsKey, path, err)
		}
		text = in.Expression.Expression
	}
	if text == "" {
		return "", fmt.Errorf("%w: %s of column %s has no expression: %.100s", ErrCorrupt, invariantsKey, path, f.Metadata[invariantsKey])
	}
	return text, nil
}

// apply returns the batch with every column filled in, after all rules have been checked. Columns that are nil were not given.
func (r *rules) apply(ctx context.Context, b *batch.Batch) (*batch.Batch, error) {
	out := &batch.Batch{Schema: r.schema, Cols: slices.Clone(b.Cols), Len: b.Len, Sel: b.Sel}
	for _, id := range r.identity {
		if err := id.apply(out, r.source); err != nil {
			return nil, err
		}
	}
	if err := r.fill(ctx, out); err != nil {
		return nil, err
	}
	if err := r.generate(ctx, out, b.Cols); err != nil {
		return nil, err
	}
	for _, l := range r.lengths {
		if err := l.apply(out); err != nil {
			return nil, err
		}
	}
	if err := checkNotNull(out); err != nil {
		return nil, err
	}
	return out, r.check(ctx, out)
}

// fill gives columns that are not given their defaults, or null. Generated ones are null until they are worked out.
func (r *rules) fill(ctx context.Context, b *batch.Batch) error {
	if slices.ContainsFunc(r.defaults.columns, func(i int) bool { return b.Cols[i] == nil }) {
		rows := &batch.Batch{Schema: &batch.Schema{}, Len: b.Len, Sel: b.Sel} // defaults refer to no column
		values, err := r.defaults.eval(ctx, rows)
		if err != nil {
			return err
		}
		for n, i := range r.defaults.columns {
			if b.Cols[i] == nil {
				b.Cols[i] = values[n]
			}
		}
	}
	for i, f := range r.schema.Fields {
		if b.Cols[i] == nil {
			b.Cols[i] = batch.NewNulls(f.Type, b.Len)
		}
	}
	return nil
}

// generate works out the generated columns that are not given, and compares those that are.
func (r *rules) generate(ctx context.Context, b *batch.Batch, given []*batch.Vector) error {
	if len(r.generated.exprs) == 0 {
		return nil
	}
	values, err := r.generated.eval(ctx, b)
	if err != nil {
		return err
	}
	for n, i := range r.generated.columns {
		if given[i] == nil {
			b.Cols[i] = values[n]
			continue
		}
		for row := range b.Rows() {
			if at := b.Row(row); !sameValue(given[i], values[n], at) {
				return fmt.Errorf("%w: [DELTA_GENERATED_COLUMN_VALUE_MISMATCH] column %s is %s, and its expression (%s) gives %s; leave the column out, or give that",
					ErrGenerated, r.schema.Fields[i].Name, given[i].Format(at), r.generated.exprs[n].SQL, values[n].Format(at))
			}
		}
	}
	return nil
}

// sameValue is the null-safe comparison of a row of two vectors of one type. NaN is the same as NaN.
func sameValue(a, b *batch.Vector, row int) bool {
	if a.IsNull(row) || b.IsNull(row) {
		return a.IsNull(row) && b.IsNull(row)
	}
	switch x := a.Value(row).(type) {
	case float32:
		y := b.Value(row).(float32)
		return x == y || x != x && y != y
	case float64:
		y := b.Value(row).(float64)
		return x == y || x != x && y != y
	}
	return a.Format(row) == b.Format(row)
}

// check demands that every condition is true for every row; NULL is not true.
func (r *rules) check(ctx context.Context, b *batch.Batch) error {
	if len(r.checks.exprs) == 0 {
		return nil
	}
	results, err := r.checks.eval(ctx, b)
	if err != nil {
		return err
	}
	for n, v := range results {
		v = v.Decode()
		for row := range b.Rows() {
			if at := b.Row(row); v.IsNull(at) || !v.Bools[at] {
				return fmt.Errorf("%w: [DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] %s violated by row with values: %s", ErrCheck, r.checks.names[n], rowText(b, at))
			}
		}
	}
	return nil
}

// maxShownColumns bounds how much of a row a message shows.
const maxShownColumns = 10

// rowText shows a row in a message.
func rowText(b *batch.Batch, row int) string {
	var out strings.Builder
	for i, f := range b.Schema.Fields {
		if i == maxShownColumns {
			out.WriteString(", ...")
			break
		}
		if i > 0 {
			out.WriteString(", ")
		}
		fmt.Fprintf(&out, "%s: %.100s", f.Name, b.Cols[i].Format(row))
	}
	return out.String()
}
