package delta

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"lakesql/batch"
)

// The keys of the metadata of an identity column, as NewIdentity sets them.
const (
	IdentityStart    = "delta.identity.start"
	IdentityStep     = "delta.identity.step"
	IdentityExplicit = "delta.identity.allowExplicitInsert" // "false": GENERATED ALWAYS

	identityMark = "delta.identity.highWaterMark"
)

// identity hands out the values of an identity column: start, start+step and so on behind the high-water mark. Gaps are fine, and a value is
// never handed out twice, because the mark of a commit is a change of the metadata, which no other such commit passes.
type identity struct {
	column      int
	name        string
	start, step int64
	last        int64
	first       int64 // that has been handed out now
	used        bool  // last is a value that has been handed out, now or before
	advanced    bool  // a value has been handed out now
	explicit    bool  // values may be given
}

// identityOf reads a column's metadata; nil: it is no identity column.
func identityOf(column int, f batch.Field) (*identity, error) {
	if f.Metadata[IdentityStart] == "" {
		return nil, nil
	}
	id := &identity{column: column, name: f.Name, explicit: f.Metadata[IdentityExplicit] == "true"}
	for key, to := range map[string]*int64{IdentityStart: &id.start, IdentityStep: &id.step, identityMark: &id.last} {
		text := f.Metadata[key]
		if key == identityMark && (text == "" || text == "null") {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: %s of column %s is %q, not a number", ErrCorrupt, key, f.Name, text)
		}
		*to = n
		id.used = id.used || key == identityMark
	}
	if id.step == 0 || f.Type.Kind != batch.Int64 {
		return nil, fmt.Errorf("%w: identity column %s is %s with step %d; it must be long, and the step not 0", ErrCorrupt, f.Name, f.Type, id.step)
	}
	return id, nil
}

// NewIdentity returns the metadata of an identity column, which is of type long.
func NewIdentity(start, step int64, allowExplicitInsert bool) (map[string]string, error) {
	if step == 0 {
		return nil, fmt.Errorf("[DELTA_IDENTITY_COLUMNS_ILLEGAL_STEP] the step of an identity column must not be 0")
	}
	return map[string]string{IdentityStart: strconv.FormatInt(start, 10), IdentityStep: strconv.FormatInt(step, 10),
		IdentityExplicit: strconv.FormatBool(allowExplicitInsert)}, nil
}

// apply fills in the column where it is not given.
func (id *identity) apply(b *batch.Batch, source RowSource) error {
	if b.Cols[id.column] != nil {
		if source == NewRows && !id.explicit {
			return fmt.Errorf("%w: [DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED] column %s is GENERATED ALWAYS AS IDENTITY: leave it out, its values are made by the table",
				ErrGenerated, id.name)
		}
		return nil
	}
	v := batch.NewVector(batch.Type{Kind: batch.Int64}, b.Len)
	next := 0
	for i := range b.Rows() {
		row := b.Row(i)
		v.AppendNulls(row - next)
		next = row + 1
		n, err := id.next()
		if err != nil {
			return err
		}
		v.AppendInt64(n)
	}
	v.AppendNulls(b.Len - next)
	b.Cols[id.column] = v
	return nil
}

func (id *identity) next() (int64, error) {
	n := id.start
	if id.used {
		n = id.last + id.step
		if (id.step > 0) != (n > id.last) {
			return 0, fmt.Errorf("%w: identity column %s has no value left behind %d in steps of %d", ErrConstraint, id.name, id.last, id.step)
		}
	}
	if !id.advanced {
		id.first = n
	}
	id.last, id.used, id.advanced = n, true, true
	return n, nil
}

// identityMarks are the last values that were handed out, by column; nil when there are none.
func (r *rules) identityMarks() map[string]int64 {
	var out map[string]int64
	for _, id := range r.identity {
		if id.advanced {
			if out == nil {
				out = make(map[string]int64)
			}
			out[id.name] = id.last
		}
	}
	return out
}

// advanceIdentity returns metadata whose high-water marks are at or behind the identity values that the files were given; m itself when
// that needs no change.
func advanceIdentity(m *Metadata, adds []AddFile) (*Metadata, error) {
	if !slices.ContainsFunc(adds, func(a AddFile) bool { return a.identity != nil }) {
		return m, nil
	}
	schema, err := ParseSchema(m.SchemaString)
	if err != nil {
		return nil, err
	}
	changed := false
	for i, f := range schema.Fields {
		id, err := identityOf(i, f)
		if err != nil {
			return nil, err
		}
		if id == nil || !id.advance(adds) {
			continue
		}
		schema.Fields[i].Metadata = maps.Clone(f.Metadata)
		schema.Fields[i].Metadata[identityMark] = strconv.FormatInt(id.last, 10)
		changed = true
	}
	if !changed {
		return m, nil
	}
	next := *m
	next.SchemaString = FormatSchema(schema)
	return &next, nil
}

// KeepIdentityMarks returns m with the high-water marks of now where those are farther, so that a table which goes back to m hands out no
// identity value twice.
func (m *Metadata) KeepIdentityMarks(now *Metadata) (*Metadata, error) {
	schema, err := ParseSchema(now.SchemaString)
	if err != nil {
		return nil, err
	}
	marks := make(map[string]int64)
	for i, f := range schema.Fields {
		id, err := identityOf(i, f)
		if err != nil {
			return nil, err
		}
		if id != nil && id.used {
			marks[f.Name] = id.last
		}
	}
	return advanceIdentity(m, []AddFile{{identity: marks}})
}

// SyncIdentity returns the metadata with the mark of an identity column at or behind all values that are in the table, of which least and
// most are the bounds; m itself when it is there already.
func (m *Metadata) SyncIdentity(column string, least, most int64) (*Metadata, error) {
	schema, err := ParseSchema(m.SchemaString)
	if err != nil {
		return nil, err
	}
	i := schema.Index(column)
	if i < 0 {
		return nil, noColumn(column, schema.Fields)
	}
	id, err := identityOf(i, schema.Fields[i])
	if err != nil {
		return nil, err
	}
	if id == nil {
		return nil, fmt.Errorf("column %s is no identity column", column)
	}
	mark, ok, err := id.markAt(least, most)
	if err != nil || !ok {
		return m, err
	}
	return advanceIdentity(m, []AddFile{{identity: map[string]int64{column: mark}}})
}

// markAt is the first of the column's own values at or behind the farthest of those between least and most; false when all lie before its start.
func (id *identity) markAt(least, most int64) (int64, bool, error) {
	farthest := new(big.Int).SetInt64(most)
	if id.step < 0 {
		farthest.SetInt64(least)
	}
	start, step := big.NewInt(id.start), big.NewInt(id.step)
	distance := new(big.Int).Sub(farthest, start)
	if distance.Sign()*step.Sign() < 0 {
		return 0, false, nil
	}
	steps, rest := new(big.Int).QuoRem(distance, step, new(big.Int))
	if rest.Sign() != 0 {
		steps.Add(steps, big.NewInt(1))
	}
	mark := steps.Mul(steps, step)
	if mark.Add(mark, start); !mark.IsInt64() {
		return 0, false, fmt.Errorf("%w: identity column %s has no value left behind %s in steps of %d from %d", ErrConstraint, id.name, farthest, id.step, id.start)
	}
	return mark.Int64(), true, nil
}

// advance moves last to the farthest value that the files were given.
func (id *identity) advance(adds []AddFile) bool {
	for _, a := range adds {
		v, ok := a.identity[id.name]
		if ok && (!id.used || v != id.last && (v > id.last) == (id.step > 0)) {
			id.last, id.used, id.advanced = v, true, true
		}
	}
	return id.advanced
}

// advanceIdentity makes the transaction's metadata cover the identity values of its files.
func (x *Transaction) advanceIdentity() error {
	m := x.metadata
	if m == nil {
		m = x.base.metadata
	}
	if m == nil { // prepare says that they are missing
		return nil
	}
	var adds []AddFile
	for _, f := range x.files.added { // those dropped again too: a gap costs nothing
		if len(f.identity) > 0 {
			adds = append(adds, f.AddFile)
		}
	}
	next, err := advanceIdentity(m, adds)
	if err == nil && next != m {
		x.metadata = next
	}
	return err
}
