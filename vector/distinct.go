package vector

import "lakesql/batch"

// distinct hands on to another accumulator the rows whose arguments their group has not seen yet. Rows with a null argument count for nothing.
type distinct struct {
	inner accumulator
	keys  *keyEncoder // the group, and the arguments
	seen  *groupTable
	// byGroup is false when all rows are of one group, which is no part of the keys then.
	byGroup bool

	group batch.Vector // the groups of the rows as a column
	valid []int32
	next  []int32
	found []uint32
	began []int32
}

// newDistinct returns a distinct for arguments of these types.
func newDistinct(inner accumulator, types []batch.Type, byGroup bool) *distinct {
	if byGroup {
		types = append([]batch.Type{groupType}, types...)
	}
	d := &distinct{inner: inner, keys: newKeyEncoder(types), byGroup: byGroup}
	d.seen = newGroupTable(d.keys.width, d.keys.direct())
	return d
}

// groupType is the type of numbers of groups as a column.
var groupType = batch.Type{Kind: batch.Int32}

func (d *distinct) size() int64 { return d.inner.size() + d.keys.size() + d.seen.size() }

func (d *distinct) add(in *grouped) error {
	one := *in
	for i, v := range in.args { // each narrows what the one before has left
		buf := &d.valid
		if i%2 == 1 {
			buf = &d.next
		}
		if one.rows = one.valid(v, buf); one.rows != nil {
			one.n = len(one.rows)
		}
	}
	columns := in.args
	if d.byGroup {
		d.setGroups(in.of)
		columns = append([]*batch.Vector{&d.group}, in.args...)
	}
	words, null, err := d.keys.encode(columns, one.rows, one.n)
	if err != nil {
		return err
	}
	d.found = resize(d.found, one.n)
	d.began = d.seen.find(d.found, words, null, d.began[:0])
	if one.rows != nil {
		for k, at := range d.began {
			d.began[k] = one.rows[at]
		}
	}
	one.rows, one.n = d.began, len(d.began)
	return d.inner.add(&one)
}

func (d *distinct) setGroups(of []uint32) {
	d.group.Type, d.group.Len = groupType, len(of)
	d.group.I32 = resize(d.group.I32, len(of))
	for i, g := range of {
		d.group.I32[i] = int32(g)
	}
}

// merge adds what the other one has seen, as rows.
func (d *distinct) merge(from accumulator, of []uint32, groups int) error {
	o := from.(*distinct)
	for lo := 0; lo < o.seen.count; lo += batch.MaxRows {
		hi := min(lo+batch.MaxRows, o.seen.count)
		in := grouped{args: o.keys.decode(o.seen, lo, hi), n: hi - lo, groups: groups}
		if d.byGroup {
			in.of = make([]uint32, in.n)
			for i, g := range in.args[0].I32 {
				in.of[i] = of[g]
			}
			in.args = in.args[1:]
		}
		if err := d.add(&in); err != nil {
			return err
		}
	}
	return nil
}

func (d *distinct) result(lo, hi int) (*batch.Vector, error) { return d.inner.result(lo, hi) }
