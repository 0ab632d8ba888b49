package files

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/format"
	"lakesql/store"
)

// clockedContext keeps the longest time of the processor between two questions whether it has ended.
type clockedContext struct {
	context.Context
	before, worst time.Duration
}

func (c *clockedContext) Err() error {
	now := processorTime()
	c.worst, c.before = max(c.worst, now-c.before), now
	return nil
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkCancel tells the longest time of the processor between two looks for the end, over records near the limit.
func BenchmarkCancel(b *testing.B) {
	const most = format.MaxRecordBytes - 1<<10
	fill := func(s string) string { return strings.Repeat(s, most/len(s)) }
	text := batch.Type{Kind: batch.String}
	numbers := batch.ListOf(batch.Field{Name: "element", Type: batch.Type{Kind: batch.Int64}, Nullable: true})
	for _, c := range []struct {
		name    string
		typ     batch.Type
		options map[string]string
		record  string
	}{
		{"csv", text, map[string]string{"format": "csv"}, fill("some text ")},
		{"csv with quotes", text, map[string]string{"format": "csv"}, `"` + fill(`a \" quote `) + `"`},
		{"csv of many lines", text, map[string]string{"format": "csv", "multiLine": "true"}, `"` + fill("a\nline ") + `"`},
		{"json, a text", text, map[string]string{"format": "json"}, `{"s":"` + fill("some text ") + `"}`},
		{"json, escapes", text, map[string]string{"format": "json"}, `{"s":"` + fill(`\u00e4 `) + `"}`},
		{"json, numbers", numbers, map[string]string{"format": "json"}, `{"s":[` + fill("12345,") + `1]}`},
		{"json, numbers as text", text, map[string]string{"format": "json"}, `{"s":[` + fill("12345,") + `1]}`},
		{"json, other keys", text, map[string]string{"format": "json"}, `{"s":"","t":[` + fill(`{"a":1},`) + `1]}`},
		{"text", text, map[string]string{"format": "text"}, fill("some text ")},
	} {
		b.Run(c.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "f")
			require.NoError(b, os.WriteFile(path, bytes.Repeat([]byte(c.record+"\n"), 2), 0o600))
			field := batch.Field{Name: "s", Type: c.typ, Nullable: true}
			if c.options["format"] == "text" {
				field.Name = "value"
			} else {
				c.options["schema"] = "s " + strings.ToUpper(c.typ.String())
			}
			opts, err := ParseOptions(c.options)
			require.NoError(b, err)
			runtime.GC()
			defer debug.SetGCPercent(debug.SetGCPercent(-1))
			ctx := &clockedContext{Context: b.Context(), before: processorTime()}
			r, err := OpenFile(ctx, store.Open, fileOf(b, path), batch.NewSchema(field), opts, nil)
			require.NoError(b, err)
			for err == nil {
				_ = ctx.Err()
				_, err = r.Next(ctx)
			}
			_ = ctx.Err()
			require.Equal(b, io.EOF, err, fmt.Sprint(err))
			require.NoError(b, r.Close())
			b.ReportMetric(ctx.worst.Seconds()*1e3, "cpu-ms-between-looks")
		})
	}
}
