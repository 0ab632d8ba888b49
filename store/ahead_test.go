package store_test

import (
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/store"
)

// counting yields 0, 1, ... up to n, then what end does.
func counting(n int, end func(yield func(int, error) bool)) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			if !yield(i, nil) {
				return
			}
		}
		end(yield)
	}
}

func TestAheadGivesAllInOrder(t *testing.T) {
	broken := errors.New("broken")
	for _, n := range []int{0, 1, 2, 3, 99, 100} {
		for _, block := range []int{1, 3, 1000} {
			for _, want := range []error{nil, broken} {
				var got []int
				var err error
				for i, e := range store.Ahead(counting(n, func(yield func(int, error) bool) {
					if want != nil {
						yield(0, want)
					}
				}), block) {
					if err = e; e == nil {
						got = append(got, i)
					}
				}
				require.Equal(t, want, err)
				require.Len(t, got, n)
				for i := range got {
					require.Equal(t, i, got[i])
				}
			}
		}
	}
}

func TestAheadIsLeftEarly(t *testing.T) {
	ended := false // no lock: the goroutine has ended when the range does
	func() {
		for i := range store.Ahead(func(yield func(int, error) bool) {
			defer func() { ended = true }()
			for i := 0; yield(i, nil); i++ {
			}
		}, 2) {
			if i == 5 {
				return
			}
		}
	}()
	require.True(t, ended)
}

func TestAheadPanicsInTheRange(t *testing.T) {
	n := 0
	require.PanicsWithValue(t, "found", func() {
		defer func() {
			p := recover()
			require.Contains(t, p, "the sequence's own")
			panic("found")
		}()
		for range store.Ahead(counting(7, func(func(int, error) bool) { panic("the sequence's own") }), 2) {
			n++
		}
	})
	require.Equal(t, 6, n, "whole blocks are given")
}
