package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lakesql/sqlext"
	"lakesql/stream"
)

// createText is the CREATE STREAM statement that makes the stream as it is now, with absolute paths.
func createText(d stream.Definition) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	line("CREATE STREAM %s\n  INTO %s", sqlext.Name{Database: d.Database, Name: d.Name}, targetText(d.Target))
	if len(d.Columns) > 0 {
		line(" (%s)", nameList(d.Columns))
	}
	if len(d.PartitionedBy) > 0 {
		line("\n  PARTITIONED BY (%s)", nameList(d.PartitionedBy))
	}
	line("\n  WITH CHECKPOINT %s", sqlext.QuoteString(d.Checkpoint))
	switch d.Trigger.Kind {
	case stream.Every:
		line("\n  TRIGGER EVERY %d MILLISECONDS", d.Trigger.Every.Milliseconds())
	case stream.AvailableNow, stream.Once:
		line("\n  TRIGGER %s", string(d.Trigger.Kind))
	}
	b.WriteString(onErrorText(d.OnError))
	if d.OnSchemaChange != "" {
		line("\n  ON SCHEMA CHANGE %s", string(d.OnSchemaChange))
	}
	if len(d.Options) > 0 {
		var pairs []string
		for _, k := range slices.Sorted(maps.Keys(d.Options)) {
			pairs = append(pairs, k+" = "+sqlext.QuoteString(d.Options[k]))
		}
		line("\n  OPTIONS (%s)", strings.Join(pairs, ", "))
	}
	if d.Comment != "" {
		line("\n  COMMENT %s", sqlext.QuoteString(d.Comment))
	}
	if d.Paused {
		line("\n  DISABLE")
	}
	line("\n  AS %s", d.SelectSQL)
	return b.String()
}

func onErrorText(e stream.OnError) string {
	if e.Mode == stream.Permissive && e.Max == 0 {
		return ""
	}
	mode := string(e.Mode)
	switch e.Mode {
	case stream.Permissive:
		mode = "PERMISSIVE"
	case stream.DeadLetter:
		mode = "DEAD LETTER INTO " + targetText(*e.DeadLetter)
	}
	if e.Max > 0 {
		mode += fmt.Sprintf(" MAX %d ROWS", e.Max)
	}
	return "\n  ON ERROR " + mode
}

func targetText(r stream.TargetRef) string {
	if r.Path != "" {
		return sqlext.Name{Database: pathDatabaseName, Name: r.Path}.String()
	}
	return sqlext.Name{Database: r.Database, Name: r.Table}.String()
}

func nameList(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = sqlext.QuoteName(n)
	}
	return strings.Join(quoted, ", ")
}
