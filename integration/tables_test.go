package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
	"lakesql/integration/shared"
)

// refusals are the tables that must not be read, and what the reason must name.
var refusals = map[string]string{
	"refuse_gap_in_log":              "1",
	"refuse_no_protocol":             "protocol",
	"refuse_protocol_99":             "99",
	"refuse_unknown_reader_feature":  "geospatial",
	"refuse_catalog_managed":         "catalogManaged",
	"refuse_unsupported_type_change": "unsupported",
}

// TestEveryTable opens each of the shared tables by path, through SQL on the real server, and compares all that is known of it.
func TestEveryTable(t *testing.T) {
	dir, tables := shared.Tables(t)
	p := harness.Start(t, t.TempDir(), "--allow-path", dir)
	require.Len(t, tables, 68)
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		table := sharedTable{p: p, dir: filepath.Join(dir, name), facts: tables[name]}
		if reason, ok := refusals[name]; ok {
			t.Run(name, func(t *testing.T) {
				_, err := table.query("SELECT * FROM %s")
				require.ErrorContains(t, err, reason)
				require.NotContains(t, err.Error(), "panic")
			})
			continue
		}
		var err error
		table.columns, err = columnsOf(table.facts)
		require.NoError(t, err, name)
		for part, check := range map[string]func(sharedTable) error{
			"rows": sharedTable.checkRows, "columns": sharedTable.checkColumns, "first": sharedTable.checkFirst,
			"history": sharedTable.checkHistory, "changes": sharedTable.checkChanges, "detail": sharedTable.checkDetail,
		} {
			t.Run(name+"/"+part, func(t *testing.T) { require.NoError(t, check(table)) })
		}
	}
}

// Years that MySQL's protocol cannot carry are NULL with a warning there; filters, functions and text have the real value.
func TestYearsThatMySQLCannotShow(t *testing.T) {
	dir := shared.Path(t, "tables", "timestamp_ntz_extreme_partitions")
	p := harness.Start(t, t.TempDir(), "--allow-path", dir)
	c, err := p.DB.Conn(t.Context())
	require.NoError(t, err)
	defer c.Close()
	rows := func(query string) [][]string {
		r, err := c.QueryContext(t.Context(), query)
		require.NoError(t, err, query)
		values, err := harness.TextRows(r)
		require.NoError(t, err, query)
		return values
	}
	table := "delta.`" + dir + "`"
	require.Equal(t, [][]string{{"NULL", "-9999-12-31 23:59:59.999999", "-9999"}},
		rows("SELECT part, CAST(part AS CHAR), YEAR(part) FROM "+table+" WHERE part < '0000-01-01' ORDER BY part LIMIT 1"))
	require.Equal(t, [][]string{{"Warning", "1292", "Incorrect datetime value in column 'part': outside the years 0000 to 9999"}}, rows("SHOW WARNINGS"))
	require.Equal(t, [][]string{{"2"}}, rows("SELECT COUNT(*) FROM "+table+" WHERE YEAR(part) < 0"))
}

// sharedTable is a table, the server that reads it and what is known of it.
type sharedTable struct {
	p       *harness.Process
	dir     string
	facts   shared.Table
	columns []column
}

// answerRows are rows as text, with what is null.
type answerRows struct {
	names []string
	rows  [][]string
	null  [][]bool
}

// query runs a query in which %s stands for the table.
func (s sharedTable) query(format string, args ...any) (answerRows, error) {
	var out answerRows
	statement := fmt.Sprintf(format, append([]any{"delta.`" + s.dir + "`"}, args...)...)
	r, err := s.p.DB.Query(statement)
	if err != nil {
		return out, fmt.Errorf("%s: %w", statement, err)
	}
	defer r.Close()
	if out.names, err = r.Columns(); err != nil {
		return out, err
	}
	for r.Next() {
		raw, into := make([][]byte, len(out.names)), make([]any, len(out.names))
		for i := range raw {
			into[i] = &raw[i]
		}
		if err := r.Scan(into...); err != nil {
			return out, err
		}
		row, null := make([]string, len(raw)), make([]bool, len(raw))
		for i, v := range raw {
			row[i], null[i] = string(v), v == nil
		}
		out.rows, out.null = append(out.rows, row), append(out.null, null)
	}
	if err := r.Err(); err != nil {
		return out, fmt.Errorf("%s: %w", statement, err)
	}
	return out, nil
}

// one returns the only value of a query.
func (s sharedTable) one(format string, args ...any) (string, error) {
	r, err := s.query(format, args...)
	switch {
	case err != nil:
		return "", err
	case len(r.rows) != 1 || len(r.rows[0]) != 1:
		return "", fmt.Errorf("%v instead of one value", r.rows)
	}
	return r.rows[0][0], nil
}

func (s sharedTable) checkRows() error {
	count, err := s.one("SELECT COUNT(*) FROM %s")
	if err != nil {
		return err
	}
	all, err := s.query("SELECT * FROM %s")
	if err != nil {
		return err
	}
	var names []string
	for _, c := range s.columns {
		names = append(names, c.name)
	}
	if count != s.facts.Rows || strconv.Itoa(len(all.rows)) != s.facts.Rows || !slices.Equal(names, all.names) {
		return fmt.Errorf("%s rows counted, %d read, columns %v; want %s rows of %v", count, len(all.rows), all.names, s.facts.Rows, names)
	}
	return nil
}

// selected is a column in a SELECT list. Years that MySQL's protocol cannot carry are asked for as text.
func (s sharedTable) selected(expr string) string {
	if strings.Contains(strings.Join(s.facts.Cols, " "), "(BC)") {
		return "CAST(" + expr + " AS CHAR)"
	}
	return expr
}

func (s sharedTable) checkColumns() error {
	var problems []error
	for _, text := range s.facts.Cols {
		want := columnFactsOf(text)
		at := slices.IndexFunc(s.columns, func(c column) bool { return c.name == want.name })
		typ, quoted := s.columns[at].typ, "`"+want.name+"`"
		nonNull, err := s.one("SELECT COUNT(" + quoted + ") FROM %s")
		if err != nil {
			return err
		}
		if nonNull != want.nonNull {
			problems = append(problems, fmt.Errorf("%s: %s are not null; want %s", want.name, nonNull, want.nonNull))
		}
		if want.distinct == "" {
			continue
		}
		list := []string{"COUNT(DISTINCT " + quoted + ")", s.selected("MIN(" + quoted + ")"), s.selected("MAX(" + quoted + ")")}
		if want.sum != "" {
			list = append(list, "SUM("+quoted+")")
		}
		r, err := s.query("SELECT " + strings.Join(list, ", ") + " FROM %s")
		if err != nil {
			return err
		}
		row, null := r.rows[0], r.null[0]
		ok := row[0] == want.distinct
		if want.nonNull == "0" {
			ok = ok && !slices.Contains(null[1:], false)
		} else {
			ok = ok && sameValue(typ, want.low, duckText(typ, row[1])) && sameValue(typ, want.high, duckText(typ, row[2])) &&
				(want.sum == "" || sameSum(typ, want.sum, row[3]))
		}
		if !ok {
			problems = append(problems, fmt.Errorf("%s: distinct, min, max, sum are %q; want %s", want.name, row, text))
		}
	}
	return errors.Join(problems...)
}

// checkFirst compares the rows that the list shows, which are the first ones in the order of the columns.
func (s sharedTable) checkFirst() error {
	var list, order []string
	for _, c := range s.columns {
		quoted := "`" + c.name + "`"
		list = append(list, s.selected(quoted))
		if c.typ.Fields() == nil {
			order = append(order, quoted+" IS NULL", quoted)
		}
	}
	statement := "SELECT " + strings.Join(list, ", ") + " FROM %s"
	if len(order) > 0 {
		statement += " ORDER BY " + strings.Join(order, ", ")
	}
	r, err := s.query(statement+" LIMIT %d", len(s.facts.First))
	if err != nil {
		return err
	}
	var rows []string
	for i, row := range r.rows {
		rows = append(rows, rowJSON(s.columns, row, r.null[i]))
	}
	left := slices.Clone(rows) // a nested column is not ordered, so the order within the listed rows is not compared
	for _, text := range s.facts.First {
		want, err := expectedRow(text)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		at := slices.IndexFunc(left, func(got string) bool { return sameJSON(want, got) })
		if at < 0 {
			return fmt.Errorf("no row is %s; the first rows are\n%s", want, strings.Join(rows, "\n"))
		}
		left = slices.Delete(left, at, at+1)
	}
	return nil
}

// checkHistory counts the rows of each version. A version whose files are gone must be refused, naming one.
func (s sharedTable) checkHistory() error {
	for _, fact := range strings.Split(strings.ReplaceAll(s.facts.Hist, " files unreadable", "-unreadable"), " ") {
		version, want, _ := strings.Cut(fact, ":")
		if strings.Contains(want, "unreadable") {
			_, err := s.query("SELECT * FROM %s VERSION AS OF " + version)
			if err == nil || !strings.Contains(err.Error(), ".parquet") {
				return fmt.Errorf("version %s has lost its files: %w", version, cmpErr(err))
			}
			continue
		}
		got, err := s.one("SELECT COUNT(*) FROM %s VERSION AS OF " + version)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("version %s has %s rows; want %s", version, got, want)
		}
	}
	return nil
}

// cmpErr is err, or an error that there is none.
func cmpErr(err error) error {
	if err == nil {
		return errors.New("no error")
	}
	return err
}

// checkChanges counts the changes of each version by their type, where the table kept a change data feed, and wants a refusal elsewhere.
func (s sharedTable) checkChanges() error {
	on, err := s.feedVersions()
	if err != nil {
		return err
	}
	refused := false
	for _, fact := range strings.Fields(s.facts.Changes) {
		version, want, _ := strings.Cut(fact, ":")
		statement := "SELECT _change_type, COUNT(*) FROM table_changes('%[1]s', " + version + ", " + version + ") GROUP BY 1 ORDER BY 1"
		switch {
		case on[version]:
		case refused:
			continue
		default:
			refused = true
			if _, err := s.query(statement); err == nil || !strings.Contains(err.Error(), "delta.enableChangeDataFeed") {
				return fmt.Errorf("version %s has no change data feed: %w", version, cmpErr(err))
			}
			continue
		}
		r, err := s.query(statement)
		if err != nil {
			return err
		}
		var got []string
		for _, row := range r.rows {
			got = append(got, row[0]+"="+row[1])
		}
		want, _, _ = strings.Cut(want, "(")
		if text := strings.Join(got, ","); text != want && !(text == "" && want == "none") {
			return fmt.Errorf("version %s: %s; want %s", version, text, want)
		}
	}
	return nil
}

// feedVersions returns the versions at which the metadata turn the change data feed on.
func (s sharedTable) feedVersions() (map[string]bool, error) {
	on, out := false, map[string]bool{}
	last, err := strconv.Atoi(s.facts.Version)
	if err != nil {
		return nil, err
	}
	for v := range last + 1 {
		text, err := os.ReadFile(filepath.Join(s.dir, "_delta_log", fmt.Sprintf("%020d.json", v)))
		if err != nil && !errors.Is(err, os.ErrNotExist) { // only a checkpoint is left of it
			return nil, err
		}
		lines := bufio.NewScanner(bytes.NewReader(text))
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var action struct {
				MetaData *struct{ Configuration map[string]string }
			}
			if err := json.Unmarshal(lines.Bytes(), &action); err != nil {
				return nil, err
			}
			if action.MetaData != nil {
				on = action.MetaData.Configuration["delta.enableChangeDataFeed"] == "true"
			}
		}
		out[strconv.Itoa(v)] = on
	}
	return out, nil
}

// checkDetail compares DESCRIBE DETAIL, and the newest version of DESCRIBE HISTORY.
func (s sharedTable) checkDetail() error {
	r, err := s.query("DESCRIBE DETAIL %s")
	if err != nil {
		return err
	}
	for name, want := range map[string]string{"numFiles": s.facts.Files, "sizeInBytes": s.facts.Bytes} {
		if got := r.rows[0][slices.Index(r.names, name)]; got != want {
			return fmt.Errorf("%s is %s; want %s", name, got, want)
		}
	}
	if r, err = s.query("DESCRIBE HISTORY %s LIMIT 1"); err != nil {
		return err
	}
	if got := r.rows[0][slices.Index(r.names, "version")]; got != s.facts.Version {
		return fmt.Errorf("the newest version is %s; want %s", got, s.facts.Version)
	}
	return nil
}
