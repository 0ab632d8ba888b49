package vector

import (
	"cmp"
	"context"
	"math"

	"lakesql/batch"
)

// fewTied is up to how many rows that are equal in a key are compared by all further keys at once.
const fewTied = 8

// sortFrom sorts rows that are equal in the keys before key k, and whose words are of key k. Most are ordered by words alone, which needs no look at their chunks: those of the same word by
// the words of the next key, where the word was all that there is to the value.
func (s *sorter) sortFrom(ctx context.Context, rows []rowRef, k int) error {
	err := sortRows(ctx, rows, func(a, b rowRef) int {
		if a.word != b.word {
			return cmp.Compare(a.word, b.word)
		}
		return cmp.Compare(a.position, b.position)
	})
	for lo := 0; lo < len(rows) && err == nil; {
		hi := lo + 1
		for hi < len(rows) && rows[hi].word == rows[lo].word {
			hi++
		}
		if hi-lo > 1 {
			err = s.sortTied(ctx, rows[lo:hi], k)
		}
		lo = hi
	}
	return err
}

// sortTied sorts rows that have the same word of key k.
func (s *sorter) sortTied(ctx context.Context, rows []rowRef, k int) error {
	from := k
	if s.isWhole(rows, k) {
		if from++; from == len(s.keys) {
			return nil
		}
		if len(rows) > fewTied {
			word := rows[0].word
			s.setWords(rows, from)
			err := s.sortFrom(ctx, rows, from)
			for i := range rows {
				rows[i].word = word
			}
			return err
		}
	}
	return sortRows(ctx, rows, func(a, b rowRef) int { return compareKeys(s.keys, from, &a, &b, s.chunks, s.chunks) })
}

// isWhole says whether rows that have the same word of key k have the same value.
func (s *sorter) isWhole(rows []rowRef, k int) bool {
	if w := rows[0].word; w == 0 || w == math.MaxUint64 { // null has the word of the least value
		return false
	}
	switch s.keys[k].Expr.Type().Layout() {
	case batch.LayoutDec:
		return false
	case batch.LayoutBytes:
		n := len(s.chunks[rows[0].chunk].keys[k].BytesAt(int(rows[0].row)))
		for _, r := range rows {
			if text := s.chunks[r.chunk].keys[k].BytesAt(int(r.row)); len(text) != n || n > wordBytesOfText {
				return false
			}
		}
	}
	return true
}

// setWords sets the words of rows to those of key k.
func (s *sorter) setWords(rows []rowRef, k int) {
	word := wordOf(s.keys[k].Expr.Type())
	for i := range rows {
		r := &rows[i]
		v, at := s.chunks[r.chunk].keys[k], int(r.row)
		switch {
		case v.IsNull(at):
			r.word = 0
		case v.Dict != nil:
			r.word = word(v.Dict, int(v.Codes[at]))
		default:
			r.word = word(v, at)
		}
		if s.keys[k].Descending {
			r.word = ^r.word
		}
	}
}
