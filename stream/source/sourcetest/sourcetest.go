// Package sourcetest is the conformance test that every stream source runs.
package sourcetest

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/stream/source"
)

// patience is how long it waits for what must come, on a machine that is busy with other tests.
const patience = time.Minute

// Subject is a source under test with the world that it reads.
type Subject interface {
	// Open opens the source as a new process would: over the same checkpoint, knowing nothing else.
	Open(t *testing.T) source.Source
	// Append adds rows, so that they are there, whole, when it returns. It gives their text as Read shows them.
	Append(t *testing.T) []string
}

// Run tests the promises of source.Source. fresh makes a subject with nothing in it.
func Run(t *testing.T, fresh func(t *testing.T) Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"nothing there": nothingThere, "each row once": eachRowOnce, "a range repeats": rangeRepeats,
		"an uncovered range comes next": uncoveredRange, "marks": marks, "frozen": frozen, "schema is kept": schemaKept,
	} {
		t.Run(name, func(t *testing.T) { test(t, fresh(t)) })
	}
}

func open(t *testing.T, s Subject) source.Source {
	src := s.Open(t)
	t.Cleanup(func() {
		require.NoError(t, src.Close())
		require.NoError(t, src.Close(), "Close may be called twice")
	})
	return src
}

// Next waits for the next range behind start, and returns its end.
func Next(t *testing.T, src source.Source, start source.Offset) (end source.Offset) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		end, _, err = src.Latest(t.Context(), start, source.Limit{})
		require.NoError(t, err)
		return end != start
	}, patience, 5*time.Millisecond)
	return end
}

func schema(t *testing.T, src source.Source) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := src.Schema(t.Context())
		if !errors.Is(err, source.ErrNoData) {
			require.NoError(t, err)
		}
		return err == nil
	}, patience, 5*time.Millisecond)
}

// read returns the rows of a range, sorted.
func read(t *testing.T, src source.Source, start, end source.Offset) []string {
	t.Helper()
	op, err := src.Read(t.Context(), start, end, source.Observer{})
	require.NoError(t, err)
	defer func() { require.NoError(t, op.Close()) }()
	out := []string{}
	for {
		b, err := op.Next(t.Context())
		if errors.Is(err, io.EOF) {
			slices.Sort(out)
			return out
		}
		require.NoError(t, err)
		for i := range b.Rows() {
			var cells []string
			for _, c := range b.Cols {
				cells = append(cells, c.Format(b.Row(i)))
			}
			out = append(out, strings.Join(cells, "|"))
		}
	}
}

func sorted(rows ...[]string) []string {
	all := slices.Concat(rows...)
	slices.Sort(all)
	return all
}

func nothingThere(t *testing.T, s Subject) {
	src := open(t, s)
	end, more, err := src.Latest(t.Context(), source.None, source.Limit{})
	require.NoError(t, err)
	require.Equal(t, source.None, end)
	require.False(t, more)
	require.NotEmpty(t, src.Description())
}

func eachRowOnce(t *testing.T, s Subject) {
	want := s.Append(t)
	at, got := source.None, []string(nil)
	for range 12 { // also over a compaction of the log
		src := s.Open(t)
		schema(t, src)
		end := Next(t, src, at)
		got = append(got, read(t, src, at, end)...)
		at = end
		end, more, err := src.Latest(t.Context(), at, source.Limit{})
		require.NoError(t, err)
		require.Equal(t, at, end)
		require.False(t, more)
		require.NoError(t, src.Close())
		want = append(want, s.Append(t)...)
	}
	src := open(t, s)
	got = append(got, read(t, src, at, Next(t, src, at))...)
	require.Equal(t, sorted(want), sorted(got))
}

func rangeRepeats(t *testing.T, s Subject) {
	want := s.Append(t)
	src := open(t, s)
	schema(t, src)
	end := Next(t, src, source.None)
	require.Equal(t, sorted(want), read(t, src, source.None, end))
	s.Append(t)
	require.Equal(t, sorted(want), read(t, src, source.None, end))
	require.NoError(t, src.Close())
	require.Equal(t, sorted(want), read(t, open(t, s), source.None, end), "by another process")
}

// uncoveredRange is a crash between Latest and the record of its offset.
func uncoveredRange(t *testing.T, s Subject) {
	want := s.Append(t)
	src := s.Open(t)
	schema(t, src)
	Next(t, src, source.None)
	require.NoError(t, src.Close())
	more := s.Append(t)
	src = open(t, s)
	at, got := source.None, []string(nil)
	for len(got) < len(want)+len(more) {
		end := Next(t, src, at)
		got = append(got, read(t, src, at, end)...)
		at = end
	}
	require.Equal(t, sorted(want, more), sorted(got))
}

func marks(t *testing.T, s Subject) {
	src := open(t, s)
	empty, err := src.Mark(t.Context())
	require.NoError(t, err)
	reached(t, src, empty, source.None, true)

	s.Append(t)
	mark, err := src.Mark(t.Context())
	require.NoError(t, err)
	schema(t, src)
	reached(t, src, mark, source.None, false)
	end := Next(t, src, source.None)
	reached(t, src, mark, source.None, false)
	again := open(t, s) // a mark outlives its source
	reached(t, again, mark, source.None, false)
	reached(t, again, mark, end, true)
}

func reached(t *testing.T, src source.Source, m source.Mark, at source.Offset, want bool) {
	t.Helper()
	got, err := src.Reached(t.Context(), m, at)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func frozen(t *testing.T, s Subject) {
	want := s.Append(t)
	src := open(t, s)
	require.NoError(t, src.Freeze(t.Context()))
	s.Append(t)
	schema(t, src)
	end := Next(t, src, source.None)
	require.Equal(t, sorted(want), read(t, src, source.None, end))
	again, more, err := src.Latest(t.Context(), end, source.Limit{})
	require.NoError(t, err)
	require.Equal(t, end, again)
	require.False(t, more)
}

func schemaKept(t *testing.T, s Subject) {
	s.Append(t)
	src := s.Open(t)
	schema(t, src)
	want, err := src.Schema(t.Context())
	require.NoError(t, err)
	require.NoError(t, src.Close())
	got, err := open(t, s).Schema(context.WithoutCancel(t.Context()))
	require.NoError(t, err)
	require.True(t, want.Equal(got))
}
