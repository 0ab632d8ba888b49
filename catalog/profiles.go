package catalog

import (
	"slices"
	"strconv"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/sqlext"
)

// The variables of SHOW PROFILE.
const (
	profilingVariable = "profiling"
	historyVariable   = "profiling_history_size"
)

// profile is how long a statement took, kept while the variable profiling is on.
type profile struct {
	id    int64
	text  string
	begun time.Time
	took  time.Duration
}

// profiles are a session's last ones, oldest first.
type profiles struct {
	last    []profile
	count   int64
	running *profile // nil: the statement is not to be kept
}

// begin is called when a statement begins.
func (p *profiles) begin(ctx *sql.Context) error {
	p.running = nil
	on, err := ctx.GetSessionVariable(ctx, profilingVariable)
	if err != nil || on != int8(1) {
		return err
	}
	p.running = &profile{text: sqlext.Redact(ctx.Query()), begun: time.Now()}
	return nil
}

// end is called when it is over.
func (p *profiles) end(keep int) {
	if p.running == nil {
		return
	}
	p.count++
	done := *p.running
	p.running = nil
	done.id, done.took = p.count, time.Since(done.begun)
	p.last = append(p.last, done)
	p.last = p.last[max(len(p.last)-keep, 0):]
}

// CommandBegin is called before a statement is parsed.
func (s *session) CommandBegin() error {
	s.cleared = false
	return nil
}

// CommandEnd is called when the client has a statement's result.
func (s *session) CommandEnd() {
	keep, _ := s.BaseSession.GetSessionVariable(sql.NewEmptyContext(), historyVariable)
	n, ok := keep.(int64)
	if !ok {
		n = defaultProfiles
	}
	s.profiles.end(int(n))
}

// SessionEnd is called when the connection is closed: a session has nothing that outlasts it.
func (s *session) SessionEnd() {}

// defaultProfiles is MySQL's.
const defaultProfiles = 15

// seconds is a duration as MySQL shows it.
var seconds = types.MustCreateDecimalType(18, 8)

func secondsOf(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 8, 64) }

// profilesOf are those of the statement's session, which is none of them.
func profilesOf(ctx *sql.Context) []profile {
	s, ok := ctx.Session.(*session)
	if !ok {
		return nil
	}
	s.profiles.running = nil
	return s.profiles.last
}

func (c *Catalog) showProfiles() action {
	schema := sql.Schema{{Name: "Query_ID", Type: types.Int64}, {Name: "Duration", Type: seconds}, {Name: "Query", Type: textType}}
	return query("SHOW PROFILES", schema, func(ctx *sql.Context) ([]sql.Row, error) {
		var rows []sql.Row
		for _, p := range profilesOf(ctx) {
			row, err := rowFor(ctx, schema, p.id, secondsOf(p.took), p.text)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		return rows, nil
	})
}

// executing is the one stage of a statement that is told apart.
const executing = "executing"

// profileColumns are the columns that each type of SHOW PROFILE adds. What is not measured is NULL.
var profileColumns = []struct {
	kind    string
	columns []string
}{
	{"CPU", []string{"CPU_user", "CPU_system"}}, {"CONTEXT SWITCHES", []string{"Context_voluntary", "Context_involuntary"}},
	{"BLOCK IO", []string{"Block_ops_in", "Block_ops_out"}}, {"IPC", []string{"Messages_sent", "Messages_received"}},
	{"PAGE FAULTS", []string{"Page_faults_major", "Page_faults_minor"}}, {"SWAPS", []string{"Swaps"}}, {"SOURCE", []string{"Source_function", "Source_file", "Source_line"}},
}

func (c *Catalog) showProfile(s *sqlext.ShowProfile) action {
	schema := sql.Schema{{Name: "Status", Type: textType}, {Name: "Duration", Type: seconds}}
	for _, p := range profileColumns {
		if slices.Contains(s.Types, p.kind) || slices.Contains(s.Types, "ALL") {
			for _, name := range p.columns {
				schema = append(schema, &sql.Column{Name: name, Type: types.Int64, Nullable: true})
			}
		}
	}
	return query("SHOW PROFILE", schema, func(ctx *sql.Context) ([]sql.Row, error) {
		kept := profilesOf(ctx)
		if len(kept) == 0 {
			return nil, nil
		}
		id, err := countOf(s.Query, int(kept[len(kept)-1].id))
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(kept, func(p profile) bool { return p.id == int64(id) })
		if at < 0 {
			return nil, nil
		}
		row := make(sql.Row, len(schema))
		shown, err := rowFor(ctx, schema, executing, secondsOf(kept[at].took))
		copy(row, shown)
		return []sql.Row{row}, err
	})
}

// listProfiling is information_schema.PROFILING.
func listProfiling(r *infoRows) error {
	for _, p := range profilesOf(r.ctx) {
		if err := r.add(p.id, 1, executing, secondsOf(p.took), nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// countOf is a number that a statement gives, or the default.
func countOf(v *sqlext.Value, otherwise int) (int, error) {
	if v == nil {
		return otherwise, nil
	}
	n, err := strconv.Atoi(v.Text)
	if err != nil || n < 0 {
		return 0, refuse(KindInvalid, "%s is no number of rows or statements: give one from 0 on", v)
	}
	return n, nil
}
