package vector

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lakesql/batch"
)

// JoinKind says which rows a join hands out. The probe side is streamed, the build side is kept in memory.
type JoinKind uint8

// The kinds. A pair of rows matches when all keys are equal and the residual is true.
const (
	InnerJoin      JoinKind = iota // the pairs that match
	LeftJoin                       // likewise, and the probe rows without a match, with nulls for the build side
	BuildOuterJoin                 // the pairs that match, and the build rows without a match, with nulls for the probe side
	FullJoin                       // the pairs that match, and the rows of both sides without a match
	SemiJoin                       // the probe rows with a match: EXISTS, IN
	AntiJoin                       // the probe rows without a match: NOT EXISTS
	NotInJoin                      // the probe rows for which NOT IN is true: no build row with a true residual has keys that are, or by a null might be, equal
	BuildSemiJoin                  // the build rows with a match
	BuildAntiJoin                  // the build rows without a match
)

// pairs says whether the rows handed out have the columns of both sides.
func (k JoinKind) pairs() bool { return k <= FullJoin }

// ofBuild says whether the rows handed out are of the build side alone.
func (k JoinKind) ofBuild() bool { return k >= BuildSemiJoin }

// keepsBuild says whether build rows without a match are handed out.
func (k JoinKind) keepsBuild() bool {
	return k == BuildOuterJoin || k == FullJoin || k == BuildAntiJoin
}

// keepsProbe says whether probe rows without a match are handed out.
func (k JoinKind) keepsProbe() bool {
	return k == LeftJoin || k == FullJoin || k == AntiJoin || k == NotInJoin
}

// marksBuild says whether it matters which build rows have a match.
func (k JoinKind) marksBuild() bool { return k.keepsBuild() || k.ofBuild() }

// Join says what is joined.
type Join struct {
	Kind JoinKind
	// Probe and Build are the keys, pairwise of one type, over the columns of their side; none: every pair of rows is looked at. Texts are equal by their
	// bytes; 0 equals -0, NaN equals NaN. A null equals nothing.
	Probe, Build []Expr
	NullSafe     []bool // by key: null equals null, as in <=>; nil: no key. Not for NotInJoin
	// Residual is a condition over the columns of the probe followed by those of the build side; nil: true. A NULL is no match.
	Residual Expr
}

// nullSafe says whether null equals null in a key.
func (j *Join) nullSafe(key int) bool { return j.NullSafe != nil && j.NullSafe[key] }

// existence says that nothing counts but whether there are rows with a key.
func (j *Join) existence() bool { return !j.Kind.pairs() && j.Residual == nil }

// joining is a join by hash: one of the forks of the probe side with what all of them share.
//
//  1. The build side is read to its end, and put into a table.
//  2. For each batch of the probe the rows with equal keys are looked up, and the residual narrows them.
//  3. When the probe is at its end, the build rows that the kind asks for follow, from the last fork to get there.
type joining struct {
	join  Join // with expressions of its own
	build *joinBuild
	probe Fork
	prober
	closed bool
}

// NewJoin returns the join of two operators. Its columns are those of the probe followed by those of the build side, where the kind has pairs of
// rows; else those of the one side whose rows it has. It reads the build side first. budget may be nil.
func NewJoin(probe, build Operator, j Join, budget *Budget) (Operator, error) {
	if len(j.Probe) != len(j.Build) || j.NullSafe != nil && len(j.NullSafe) != len(j.Probe) {
		return nil, fmt.Errorf("join by %d keys and %d, of which %d are said to be null-safe or not", len(j.Probe), len(j.Build), len(j.NullSafe))
	}
	if j.Kind == NotInJoin && slices.Contains(j.NullSafe, true) {
		return nil, errors.New("join: NOT IN by a null-safe key")
	}
	for i, e := range j.Probe {
		if t := e.Type(); !batch.Ordered(t) {
			return nil, unsupported("join by a %s", t)
		} else if t != j.Build[i].Type() {
			return nil, fmt.Errorf("join by key %d: it is a %s and a %s", i, t, j.Build[i].Type())
		}
	}
	if j.Residual != nil && j.Residual.Type() != boolType {
		return nil, unsupported("join by a condition that is a %s", j.Residual.Type())
	}
	out := &joining{join: j, build: newJoinBuild(build, probe.Schema(), j, budget)}
	out.build.filters = filterProbe(probe, &j)
	out.over(whole{probe})
	out.keepAll()
	return out, nil
}

// over makes the join read a fork of the probe.
func (j *joining) over(probe Fork) {
	j.probe = probe
	j.prober = prober{join: &j.join, build: j.build}
}

// joinSchema is the schema of a join's rows: a column is nullable where the other side's rows come without a match.
func joinSchema(probe, build *batch.Schema, kind JoinKind) *batch.Schema {
	out := &batch.Schema{}
	add := func(s *batch.Schema, nullable bool) {
		for _, f := range s.Fields {
			f.Nullable = f.Nullable || nullable
			out.Fields = append(out.Fields, f)
		}
	}
	if !kind.ofBuild() {
		add(probe, kind == BuildOuterJoin || kind == FullJoin)
	}
	if kind.pairs() || kind.ofBuild() {
		add(build, kind == LeftJoin || kind == FullJoin)
	}
	return out
}

func (j *joining) Schema() *batch.Schema { return j.build.schema }

// keepAll keeps all columns of the result.
func (j *joining) keepAll() {
	all := make([]int, len(j.build.schema.Fields))
	for i := range all {
		all[i] = i
	}
	j.keepColumns(all)
}

func (j *joining) keepColumns(columns []int) {
	var ofProbe, ofBuild []int
	for _, c := range columns {
		switch {
		case j.join.Kind.ofBuild():
			ofBuild = append(ofBuild, c)
		case c < j.build.probeColumns:
			ofProbe = append(ofProbe, c)
		default:
			ofBuild = append(ofBuild, c-j.build.probeColumns)
		}
	}
	j.build.keep(ofProbe, ofBuild)
	var residual []int
	if j.join.Residual != nil {
		residual = columnsOf(j.join.Residual)
	}
	ofProbe, ofBuild = append(ofProbe, columnsOf(j.join.Probe...)...), append(ofBuild, columnsOf(j.join.Build...)...)
	for _, c := range residual {
		if c < j.build.probeColumns {
			ofProbe = append(ofProbe, c)
		} else {
			ofBuild = append(ofBuild, c-j.build.probeColumns)
		}
	}
	keepColumns(j.probe.(whole).Operator, ofProbe)
	keepColumns(j.build.child, ofBuild)
}

// Fork implements Forker.
func (j *joining) Fork(n int) []Fork {
	f, ok := j.probe.(whole).Operator.(Forker)
	if !ok {
		return []Fork{j}
	}
	forks := f.Fork(n)
	j.build.share(len(forks))
	for i, below := range forks {
		o := &joining{join: j.join, build: j.build}
		o.join.Probe = cloneAll(j.join.Probe)
		if o.join.Residual != nil {
			o.join.Residual = j.join.Residual.Clone()
		}
		o.over(below)
		forks[i] = o
	}
	return forks
}

func (j *joining) budgets() []**Budget { return []**Budget{&j.build.memory.budget} }

// Morsel implements Fork.
func (j *joining) Morsel() int64 {
	if j.after {
		return j.build.tailMorsel
	}
	return j.probe.Morsel()
}

// Next implements Operator.
func (j *joining) Next(ctx context.Context) (*batch.Batch, error) {
	if err := j.build.await(ctx); err != nil {
		return nil, err
	}
	return j.next(ctx, j.probe)
}

// Close implements Operator.
func (j *joining) Close() error {
	if j.closed {
		return nil
	}
	j.closed = true
	var err error
	if j.part != nil {
		err = j.part.Close()
	}
	return errors.Join(err, j.probe.Close(), j.build.leave())
}
