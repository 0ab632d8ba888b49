package catalog

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/sqlext"
)

// traditionalSchema has MySQL's columns of EXPLAIN FORMAT=TRADITIONAL.
var traditionalSchema = sql.Schema{
	{Name: "id", Type: types.Uint64, Nullable: true}, {Name: "select_type", Type: textType}, {Name: "table", Type: textType, Nullable: true},
	{Name: "partitions", Type: textType, Nullable: true}, {Name: "type", Type: textType, Nullable: true}, {Name: "possible_keys", Type: textType, Nullable: true},
	{Name: "key", Type: textType, Nullable: true}, {Name: "key_len", Type: textType, Nullable: true}, {Name: "ref", Type: textType, Nullable: true},
	{Name: "rows", Type: types.Uint64, Nullable: true}, {Name: "filtered", Type: types.Float64, Nullable: true}, {Name: "Extra", Type: textType, Nullable: true},
}

// explainFormat is EXPLAIN FORMAT=TRADITIONAL and JSON: the plan that FORMAT=TREE shows, in the shape that tools know of MySQL.
func (c *Catalog) explainFormat(s *sqlext.ExplainFormat) action {
	switch s.Format {
	case "TRADITIONAL":
		return query("EXPLAIN", traditionalSchema, func(ctx *sql.Context) ([]sql.Row, error) {
			p, err := c.planOf(ctx, s.SQL)
			if err != nil {
				return nil, err
			}
			return p.rows(), nil
		})
	case "JSON":
		return query("EXPLAIN", sql.Schema{{Name: "EXPLAIN", Type: textType}}, func(ctx *sql.Context) ([]sql.Row, error) {
			p, err := c.planOf(ctx, s.SQL)
			if err != nil {
				return nil, err
			}
			text, err := json.MarshalIndent(p.document(), "", "  ")
			return []sql.Row{{string(text)}}, err
		})
	}
	return query("EXPLAIN", traditionalSchema, func(*sql.Context) ([]sql.Row, error) {
		return nil, refuse(KindInvalid, "unknown EXPLAIN format name: '%s': write TREE, TRADITIONAL or JSON", s.Format)
	})
}

// planned is a statement's plan: what it reads, and the tree of FORMAT=TREE.
type planned struct {
	steps []planStep
	tree  []string
}

// planOf plans a statement, and runs nothing of it.
func (c *Catalog) planOf(ctx *sql.Context, text string) (*planned, error) {
	if parsed, _, ours, err := sqlext.Parse(text); ours || err != nil {
		if err != nil {
			return nil, err
		}
		return c.plannedChange(ctx, c.explainOwn(parsed), text)
	}
	stmt, err := c.engine.Parser.ParseSimple("EXPLAIN FORMAT=tree " + text)
	if err != nil {
		return nil, err
	}
	if changed, ok := stmt.(ast.InjectedStatement); ok {
		own, ok := changed.Statement.(*statement)
		if !ok {
			return nil, fmt.Errorf("EXPLAIN of %T", changed.Statement)
		}
		return c.plannedChange(ctx, own.action, text)
	}
	explained, ok := stmt.(*ast.Explain)
	if !ok {
		return nil, fmt.Errorf("EXPLAIN is parsed as %T", stmt)
	}
	node, err := c.analyze(ctx, explained.Statement, text)
	if err != nil {
		return nil, err
	}
	e := &explanation{}
	if err := e.addPlan(ctx, node); err != nil {
		return nil, err
	}
	return &planned{steps: planSteps(ctx, node), tree: treeLines(strings.Join(e.parts, "\n"))}, nil
}

// plannedChange is the plan of a statement that changes rows, as explain words it: one table, whose rows are found by the plan in the tree.
func (c *Catalog) plannedChange(ctx *sql.Context, explain action, text string) (*planned, error) {
	rows, err := explain.run(ctx)
	if err != nil {
		return nil, err
	}
	p := &planned{}
	for _, row := range rows {
		p.tree = append(p.tree, fmt.Sprint(row[0]))
	}
	kind := strings.ToUpper(strings.Fields(text)[0])
	step := planStep{id: 1, kind: kind, access: "ALL"}
	if len(p.tree) > 0 { // Update lake.t version 3
		if words := strings.Fields(p.tree[0]); len(words) >= 3 {
			step.table = words[len(words)-3]
		}
	}
	p.steps = []planStep{step}
	return p, nil
}

func treeLines(text string) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) != "" {
			out = append(out, strings.TrimRight(line, "\r"))
		}
	}
	return out
}

// rows are those of FORMAT=TRADITIONAL. There are no partitions and keys to be told of.
func (p *planned) rows() []sql.Row {
	out := make([]sql.Row, len(p.steps))
	for i, s := range p.steps {
		row := sql.Row{nil, s.kind, orNull(s.table), nil, orNull(s.access), nil, nil, nil, nil, nil, nil, orNull(strings.Join(s.extra, "; "))}
		if s.id > 0 {
			row[0] = uint64(s.id)
		}
		if s.counted {
			row[9], row[10] = s.rows, float64(100)
		}
		out[i] = row
	}
	return out
}

// document is that of FORMAT=JSON.
func (p *planned) document() map[string]any {
	tables := make([]map[string]any, len(p.steps))
	for i, s := range p.steps {
		t := map[string]any{"select_type": s.kind}
		if s.table != "" {
			t["table_name"] = s.table
		}
		if s.access != "" {
			t["access_type"] = s.access
		}
		if s.counted {
			t["rows_examined_per_scan"], t["filtered"] = s.rows, "100.00"
		}
		if len(s.extra) > 0 {
			t["extra"] = s.extra
		}
		tables[i] = t
	}
	block := map[string]any{"select_id": 1, "plan": p.tree}
	if len(tables) == 1 {
		block["table"] = tables[0]
	} else {
		steps := make([]map[string]any, len(tables))
		for i, t := range tables {
			steps[i] = map[string]any{"table": t}
		}
		block["nested_loop"] = steps
	}
	return map[string]any{"query_block": block}
}
