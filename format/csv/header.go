package csv

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"lakesql/batch"
	"lakesql/format"
)

// readHeader takes the first record as the names of the columns and leaves the scanner behind it, its width set. With
// header => false it only counts the fields of the first record: the caller starts again to read it as data.
// raw is the header line's text.
func readHeader(s *scanner, opts *Options) (names []string, raw string, err error) {
	s.width = min(opts.MaxColumns, headerWidth)
	for {
		if err := s.next(1); err != nil {
			return nil, "", err
		}
		n := int(s.recs[0].fields)
		if n <= s.width {
			break
		}
		s.unread(s.recs[0])
		s.width = n
	}
	rec := s.recs[0]
	names = make([]string, rec.fields)
	for i := range names {
		names[i] = columnName(i)
		if text := string(s.text(s.fields[i])); opts.Header && text != "" && text != opts.NullValue {
			names[i] = string(format.AppendUTF8(nil, []byte(text)))
		}
	}
	if opts.Header {
		if err := checkText(names); err != nil {
			return nil, "", &format.Error{Line: s.lineOf(rec), Message: err.Error()}
		}
		if err := renameDuplicates(names); err != nil {
			return nil, "", &format.Error{Line: s.lineOf(rec), Message: err.Error()}
		}
	}
	raw = string(s.raw(rec))
	s.width = int(rec.fields)
	return names, raw, nil
}

// checkText refuses names with control characters: such a file is no CSV, and its bytes must not become columns.
func checkText(names []string) error {
	for i, name := range names {
		for _, r := range name {
			if unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' {
				return fmt.Errorf("column %d of the header is called %s, and no text has the character %U: is this a CSV file? "+
					"A compressed one needs a name that says so, such as a.csv.gz, and UTF-16 encoding => 'UTF-16LE'", i+1, format.Quote([]byte(name)), r)
			}
		}
	}
	return nil
}

// headerWidth is how many columns a header is expected to have; a wider one is read again.
const headerWidth = 256

// columnName is the name of column i where the file gives none.
func columnName(i int) string { return "_c" + strconv.Itoa(i) }

// renameDuplicates does to names that occur twice, in any case, what Spark does: each gets its position behind it.
func renameDuplicates(names []string) error {
	count := make(map[string]int, len(names))
	for _, name := range names {
		count[strings.ToLower(name)]++
	}
	seen := make(map[string]string, len(names))
	for i, name := range names {
		if count[strings.ToLower(name)] > 1 {
			names[i] = name + strconv.Itoa(i)
		}
		lower := strings.ToLower(names[i])
		if other, ok := seen[lower]; ok {
			return fmt.Errorf("the header names two columns %q (the second is column %d, called %q once duplicates got their position): rename one in the file, or read it with header => false", other, i+1, names[i])
		}
		seen[lower] = names[i]
	}
	return nil
}

// binding says which of the file's columns each column of the schema comes from.
type binding struct {
	source []int // by schema column: the position in the record; -1: none, NULL
	width  int   // fields that a record should have
	extra  []string
	// extraAt is where the extra columns are in a record; nil where the schema binds by position, and nothing behind it is kept.
	extraAt []int
}

// bind matches the schema with the names of the file's columns, by name in any case, or by position. names is nil where
// the file has no header. The columns at the positions without are none of the file's.
func bind(schema *batch.Schema, names []string, byPosition bool, without ...int) binding {
	b := binding{source: make([]int, len(schema.Fields)), width: len(names)}
	if byPosition {
		b.width = 0
		for i := range schema.Fields {
			if b.source[i] = -1; !slices.Contains(without, i) {
				b.source[i] = b.width
				b.width++
			}
		}
		if len(names) > b.width {
			b.extra = names[b.width:]
		}
		return b
	}
	at := make(map[string]int, len(names))
	for i, name := range names {
		at[strings.ToLower(name)] = i
	}
	used := make([]bool, len(names))
	for i, f := range schema.Fields {
		b.source[i] = -1
		if j, ok := at[strings.ToLower(f.Name)]; ok && !slices.Contains(without, i) {
			b.source[i] = j
			used[j] = true
		}
	}
	for j, name := range names {
		if !used[j] {
			b.extra, b.extraAt = append(b.extra, name), append(b.extraAt, j)
		}
	}
	return b
}
