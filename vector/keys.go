package vector

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"lakesql/batch"
)

// keyEncoder turns the values of some columns into keys of a few words, which are equal when the values are: null equals null, NaN equals
// NaN, 0 equals -0, texts are equal by their bytes. Texts become their number in a pool.
type keyEncoder struct {
	columns []keyColumn
	width   int  // words a key
	single  bool // one column of one word; its nulls are apart, so that the word has no need of a bit for them
	frozen  bool // texts that came never before make keys that no table has
	values  []uint64
	words   []uint64
	null    []bool
}

// keyColumn is where the values of a column are in a key.
type keyColumn struct {
	typ  batch.Type
	at   bitPlace // of the value; a DECIMAL of 128 bits has the next word too
	null bitPlace // of a bit that is set for null; unused in a single column
	pool *pool    // of texts
	flat flattener
}

// bitPlace is a place in the words of a key.
type bitPlace struct {
	word  int
	shift uint
}

// poolBits are enough for a pool's numbers.
const poolBits = 31

func keyBits(t batch.Type) uint {
	switch t.Layout() {
	case batch.LayoutBools:
		return 1
	case batch.LayoutI8:
		return 8
	case batch.LayoutI16:
		return 16
	case batch.LayoutI32, batch.LayoutF32:
		return 32
	case batch.LayoutBytes:
		return poolBits
	case batch.LayoutDec:
		return 128
	}
	return 64
}

func newKeyEncoder(types []batch.Type) *keyEncoder {
	e := &keyEncoder{single: len(types) == 1 && keyBits(types[0]) <= 64}
	var used []uint // bits of each word
	place := func(bits uint) bitPlace {
		if bits > 64 {
			used = append(used, 64, 64)
			return bitPlace{word: len(used) - 2}
		}
		for w := range used {
			if used[w]+bits <= 64 {
				used[w] += bits
				return bitPlace{w, used[w] - bits}
			}
		}
		used = append(used, bits)
		return bitPlace{word: len(used) - 1}
	}
	for _, t := range types {
		c := keyColumn{typ: t, at: place(keyBits(t))}
		if t.Layout() == batch.LayoutBytes {
			c.pool = newPool(t)
		}
		e.columns = append(e.columns, c)
	}
	if !e.single {
		for i := range e.columns {
			e.columns[i].null = place(1)
		}
	}
	e.width = len(used)
	return e
}

// direct says whether the words are small or dense.
func (e *keyEncoder) direct() bool {
	return e.single && (e.columns[0].pool != nil || keyBits(e.columns[0].typ) <= 16)
}

func (e *keyEncoder) size() int64 {
	n := int64(0)
	for i := range e.columns {
		if p := e.columns[i].pool; p != nil {
			n += p.size()
		}
	}
	return n
}

// encode returns the keys of n rows of the columns: of the given ones, nil: of all. null says which keys are the null key; nil: none. Both are
// valid until the next call.
func (e *keyEncoder) encode(columns []*batch.Vector, rows []int32, n int) (words []uint64, null []bool, err error) {
	return e.encodeHashed(columns, rows, n, nil)
}

// encodeHashed is encode, told the hashes of the texts of the one column; nil: not known.
func (e *keyEncoder) encodeHashed(columns []*batch.Vector, rows []int32, n int, hashes []uint64) (words []uint64, null []bool, err error) {
	e.values = resize(e.values, n)
	if e.single {
		if p := e.columns[0].pool; p != nil {
			err = p.numbersHashed(e.values, columns[0], rows, hashes, e.frozen)
		} else {
			e.columns[0].load(e.values, columns[0], rows)
		}
		return e.values, e.nulls(columns[0], rows, n), err
	}
	e.words = resize(e.words, n*e.width)
	clear(e.words)
	for i, v := range columns {
		c := &e.columns[i]
		if c.pool == nil {
			c.load(e.values, v, rows)
		} else if err := c.pool.numbersHashed(e.values, v, rows, nil, e.frozen); err != nil {
			return nil, nil, err
		}
		null := e.nulls(v, rows, n)
		e.pack(c.at, null)
		if c.typ.Layout() == batch.LayoutDec {
			c.loadHigh(e.values, v, rows)
			e.pack(bitPlace{word: c.at.word + 1}, null)
		}
		for k, isNull := range null {
			if isNull {
				e.words[k*e.width+c.null.word] |= 1 << c.null.shift
			}
		}
	}
	return e.words, nil, nil
}

// pack puts the values that are not null into the words.
func (e *keyEncoder) pack(at bitPlace, null []bool) {
	for k, isNull := range null {
		if isNull {
			e.values[k] = 0
		}
	}
	for k, x := range e.values {
		e.words[k*e.width+at.word] |= x << at.shift
	}
}

func (e *keyEncoder) nulls(v *batch.Vector, rows []int32, n int) []bool {
	if v.Valid == nil {
		return nil
	}
	e.null = resize(e.null, n)
	any := false
	for k := range e.null {
		i := k
		if rows != nil {
			i = int(rows[k])
		}
		e.null[k] = !v.Valid.Get(i)
		any = any || e.null[k]
	}
	if !any {
		return nil
	}
	return e.null
}

// load sets out to the column's values as words; it is not one of texts. What it sets for null rows is unspecified.
func (c *keyColumn) load(out []uint64, v *batch.Vector, rows []int32) {
	v = c.flat.flat(v)
	switch v.Type.Layout() {
	case batch.LayoutBools:
		loadWords(out, v.Bools, rows, func(x bool) uint64 { return uint64(boolInt(x)) })
	case batch.LayoutI8:
		loadWords(out, v.I8, rows, func(x int8) uint64 { return uint64(uint8(x)) })
	case batch.LayoutI16:
		loadWords(out, v.I16, rows, func(x int16) uint64 { return uint64(uint16(x)) })
	case batch.LayoutI32:
		loadWords(out, v.I32, rows, func(x int32) uint64 { return uint64(uint32(x)) })
	case batch.LayoutI64:
		loadWords(out, v.I64, rows, func(x int64) uint64 { return uint64(x) })
	case batch.LayoutF32:
		loadWords(out, v.F32, rows, func(x float32) uint64 { return uint64(math.Float32bits(float32(plainFloat(float64(x))))) })
	case batch.LayoutF64:
		loadWords(out, v.F64, rows, func(x float64) uint64 { return math.Float64bits(plainFloat(x)) })
	case batch.LayoutDec:
		loadWords(out, v.Dec, rows, decimal128.Num.LowBits)
	}
}

// loadHigh sets out to the higher halves of a DECIMAL of 128 bits.
func (c *keyColumn) loadHigh(out []uint64, v *batch.Vector, rows []int32) {
	loadWords(out, c.flat.flat(v).Dec, rows, func(x decimal128.Num) uint64 { return uint64(x.HighBits()) })
}

func loadWords[T any](out []uint64, values []T, rows []int32, word func(T) uint64) {
	if rows == nil {
		for k, x := range values[:len(out)] {
			out[k] = word(x)
		}
		return
	}
	for k, i := range rows {
		out[k] = word(values[i])
	}
}

// plainFloat is one of the floats that are equal: the one 0, the one NaN.
func plainFloat(x float64) float64 {
	switch {
	case x == 0:
		return 0
	case x != x:
		return math.NaN()
	}
	return x
}
