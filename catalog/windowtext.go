package catalog

import (
	"math"
	"strconv"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// adaptWindows changes the windows of a statement where GMS would take them for others, and refuses what MySQL refuses.
func adaptWindows(stmt ast.SQLNode) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.FuncExpr:
			if n.Over == nil {
				break
			}
			if name := n.Name.Lowered(); n.Distinct && name != "min" && name != "max" {
				return false, refuse(KindUnsupported, "DISTINCT in a window function, %s(DISTINCT ...) OVER", n.Name.String())
			}
			n.Over.Frame = distinctFrame(n.Over.Frame)
		case *ast.Select:
			if err := refuseFramesOfOthers(n); err != nil {
				return false, err
			}
			for _, w := range n.Window {
				w.Frame = distinctFrame(w.Frame)
			}
			return true, windowOverGroups(n)
		}
		return true, nil
	}, stmt)
}

// refuseFramesOfOthers refuses windows that go on from one which has a frame, as MySQL does by its error 3582.
func refuseFramesOfOthers(s *ast.Select) error {
	framed := make(map[string]bool)
	for _, w := range s.Window {
		framed[w.Name.Lowered()] = w.Frame != nil
	}
	refuseFrame := func(w *ast.WindowDef) error {
		if !framed[w.NameRef.Lowered()] {
			return nil
		}
		return refuse(KindInvalid, "window '%s' has a frame, so no other window can begin with it: give that its own PARTITION BY and ORDER BY", w.NameRef.String())
	}
	for _, w := range s.Window {
		if err := refuseFrame(w); err != nil {
			return err
		}
	}
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		if _, ok := n.(*ast.Subquery); ok {
			return false, nil
		}
		f, ok := n.(*ast.FuncExpr)
		if !ok || f.Over == nil || f.Over.Frame == nil && len(f.Over.PartitionBy)+len(f.Over.OrderBy) == 0 { // OVER name is that window itself
			return true, nil
		}
		return true, refuseFrame((*ast.WindowDef)(f.Over))
	}, s.SelectExprs, s.OrderBy)
}

// distinctFrame is the same frame in a way that GMS tells from others: it takes a frame of all rows for one that nobody wrote, and frames of one unit that
// begin with the partition's first row for the same.
func distinctFrame(f *ast.Frame) *ast.Frame {
	if f == nil || f.Extent.Start.Type != ast.UnboundedPreceding {
		return f
	}
	end := ast.CurrentRow
	if f.Extent.End != nil {
		end = f.Extent.End.Type
	}
	switch {
	case end == ast.UnboundedFollowing:
		return &ast.Frame{Unit: ast.RangeUnit, Extent: f.Extent}
	case f.Unit == ast.RowsUnit:
		start := &ast.FrameBound{Type: ast.ExprPreceding, Expr: ast.NewIntVal([]byte(strconv.Itoa(math.MaxInt64)))}
		return &ast.Frame{Unit: ast.RowsUnit, Extent: &ast.FrameExtent{Start: start, End: f.Extent.End}}
	case end == ast.CurrentRow:
		return nil // as without a frame
	}
	return f
}
