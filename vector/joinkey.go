package vector

import (
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"lakesql/batch"
)

// keyPart is an integer of a join's keys: a column, half of one of 128 bits, or whether one is null. Numbers are taken from the least one of the build
// side, so that few bits hold them.
type keyPart struct {
	column int
	what   keyPartKind
	base   uint64 // the least number
	span   uint64 // the greatest one, less base
	place  bitPlace
}

// keyPartKind is what of a column a keyPart is.
type keyPartKind uint8

const (
	wholeKey  keyPartKind = iota
	highOfKey             // of a DECIMAL whose values do not all fit 64 bits, which makes two parts
	nullOfKey             // 1 for null, of a null-safe key; its other parts are 0 then
)

// joinKeys turns keys into words: two keys are equal when their words are. It is made for the keys of the build side, and finds no words for those that
// none of them can be equal to. It is only read; a keyWords has what changes.
type joinKeys struct {
	parts    []keyPart
	width    int     // words a key
	bits     uint    // of the only word, where width is 1
	nullSafe []bool  // by column
	pools    []*pool // by column: of texts; nil: no texts
	wide     []bool  // by column: a DECIMAL in two parts
}

// newJoinKeys returns the words for keys of the build side.
func newJoinKeys(j *Join, keys []*batch.Vector) (*joinKeys, error) {
	k := &joinKeys{nullSafe: make([]bool, len(keys)), pools: make([]*pool, len(keys)), wide: make([]bool, len(keys))}
	for i, v := range keys {
		if k.nullSafe[i] = j.nullSafe(i); k.nullSafe[i] {
			k.parts = append(k.parts, keyPart{column: i, what: nullOfKey, span: 1})
		}
		switch v.Type.Layout() {
		case batch.LayoutBytes:
			k.pools[i] = newPool(v.Type)
			if err := k.pools[i].numbers(make([]uint64, v.Len), v, nil); err != nil {
				return nil, err
			}
			k.parts = append(k.parts, keyPart{column: i, span: uint64(max(k.pools[i].values.Len, 1) - 1)})
		case batch.LayoutDec:
			k.wide[i] = !fitWord(v)
			fallthrough
		default:
			k.addRange(i, v, wholeKey)
			if k.wide[i] {
				k.addRange(i, v, highOfKey)
			}
		}
	}
	k.place()
	return k, nil
}

// fitWord says whether the values of a vector of 128 bits are numbers of 64.
func fitWord(v *batch.Vector) bool {
	for i, x := range v.Dec[:v.Len] {
		if !v.IsNull(i) && x.HighBits() != int64(x.LowBits())>>63 {
			return false
		}
	}
	return true
}

// addRange adds the part of a column with the range of its values.
func (k *joinKeys) addRange(column int, v *batch.Vector, what keyPartKind) {
	words := make([]uint64, v.Len)
	loadKeyWords(words, v, nil, what, 0)
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for i, w := range words {
		if v.Valid == nil || v.Valid.Get(i) {
			low, high = min(low, int64(w)), max(high, int64(w))
		}
	}
	if low > high {
		low, high = 0, 0
	}
	k.parts = append(k.parts, keyPart{column: column, what: what, base: uint64(low), span: uint64(high) - uint64(low)})
}

// place finds the places of the parts.
func (k *joinKeys) place() {
	var used []uint // bits of each word
	for i := range k.parts {
		p := &k.parts[i]
		n := uint(bits.Len64(p.span))
		at := 0
		for at < len(used) && used[at]+n > 64 {
			at++
		}
		if at == len(used) {
			used = append(used, 0)
		}
		p.place = bitPlace{at, used[at]}
		used[at] += n
	}
	if k.width = len(used); k.width == 1 {
		k.bits = used[0]
	}
}

// size is about how many bytes the pools take.
func (k *joinKeys) size() int64 {
	n := int64(0)
	for _, p := range k.pools {
		if p != nil {
			n += p.size()
		}
	}
	return n
}

// loadKeyWords sets out to the values of rows (nil: all) of a plain vector, which is no text, as words that are equal when the values are, less base. Those of
// integers keep their order as signed ones. What it sets for null rows is unspecified.
func loadKeyWords(out []uint64, v *batch.Vector, rows []int32, what keyPartKind, base uint64) {
	switch v.Type.Layout() {
	case batch.LayoutI8:
		loadInts(out, v.I8, rows, base)
		return
	case batch.LayoutI16:
		loadInts(out, v.I16, rows, base)
		return
	case batch.LayoutI32:
		loadInts(out, v.I32, rows, base)
		return
	case batch.LayoutI64:
		loadInts(out, v.I64, rows, base)
		return
	case batch.LayoutBools:
		loadWords(out, v.Bools, rows, func(x bool) uint64 { return uint64(boolInt(x)) })
	case batch.LayoutF32:
		loadWords(out, v.F32, rows, func(x float32) uint64 { return math.Float64bits(plainFloat(float64(x))) })
	case batch.LayoutF64:
		loadWords(out, v.F64, rows, func(x float64) uint64 { return math.Float64bits(plainFloat(x)) })
	case batch.LayoutDec:
		if what == highOfKey {
			loadWords(out, v.Dec, rows, func(x decimal128.Num) uint64 { return uint64(x.HighBits()) })
		} else {
			loadWords(out, v.Dec, rows, decimal128.Num.LowBits)
		}
	}
	for k := range out {
		out[k] -= base
	}
}

// isInts says whether the words of a type are its values.
func isInts(t batch.Type) bool {
	l := t.Layout()
	return l >= batch.LayoutI8 && l <= batch.LayoutI64
}

func loadInts[T int8 | int16 | int32 | int64](out []uint64, values []T, rows []int32, base uint64) {
	if rows == nil {
		for k, x := range values[:len(out)] {
			out[k] = uint64(int64(x)) - base
		}
		return
	}
	for k, i := range rows[:len(out)] {
		out[k] = uint64(int64(values[i])) - base
	}
}

// keyWords makes the words of keys for one goroutine.
type keyWords struct {
	keys   *joinKeys
	pools  []*pool // by column: of texts, to be read; nil: no texts
	flats  []flattener
	values []uint64
	words  []uint64
	bad    []uint8 // by row: the key is equal to none
	rows   []int32
}

func newKeyWords(k *joinKeys) *keyWords {
	w := &keyWords{keys: k, pools: make([]*pool, len(k.pools)), flats: make([]flattener, len(k.pools))}
	for i, p := range k.pools {
		if p != nil {
			w.pools[i] = p.reader()
		}
	}
	return w
}

// encode returns the words of the keys in the selected rows of a batch of n rows, width a key, without those that are equal to no key of the build side, and the
// rows whose they are; nil: all n. anyWord says that words that no key can have may be left in. Both are valid until the next call.
func (w *keyWords) encode(columns []*batch.Vector, sel []int32, n int, anyWord bool) (words []uint64, rows []int32) {
	k := w.keys
	if sel != nil {
		n = len(sel)
	}
	if v := columns[0]; anyWord && len(k.parts) == 1 && v.Valid == nil && isInts(v.Type) {
		w.values = resize(w.values, n)
		loadKeyWords(w.values, w.flats[0].flat(v), sel, wholeKey, k.parts[0].base)
		return w.values, sel
	}
	w.bad = resize(w.bad, n)
	clear(w.bad)
	w.values = resize(w.values, n)
	single := len(k.parts) == 1
	if !single {
		w.words = resize(w.words, n*k.width)
		clear(w.words)
	}
	for i := range k.parts {
		p := &k.parts[i]
		w.load(p, columns[p.column], sel)
		if !single {
			w.pack(p)
		}
	}
	if single {
		words = w.values
	} else {
		words = w.words
	}
	return w.compact(words, sel, n)
}

// load sets values to a part of the keys, less its base, and bad where no key of the build side has that.
func (w *keyWords) load(p *keyPart, v *batch.Vector, sel []int32) {
	values := w.values
	if p.what == nullOfKey {
		for k := range values {
			values[k] = uint64(boolInt(v.IsNull(rowOf(sel, k))))
		}
		return
	}
	if texts := w.pools[p.column]; texts != nil {
		_ = texts.numbersHashed(values, v, sel, nil, true) // which only adding can make fail
	} else {
		v = w.flats[p.column].flat(v)
		loadKeyWords(values, v, sel, p.what, p.base)
	}
	nullSafe := w.keys.nullSafe[p.column]
	if v.Valid != nil {
		for k := range values {
			if !v.Valid.Get(rowOf(sel, k)) {
				values[k] = 0
				if !nullSafe {
					w.bad[k] = 1
				}
			}
		}
	}
	span := p.span
	for k, x := range values {
		w.bad[k] |= uint8(boolInt(x > span))
	}
	if v.Type.Layout() == batch.LayoutDec && !w.keys.wide[p.column] {
		for k := range values {
			i := rowOf(sel, k)
			if x := v.Dec[i]; !v.IsNull(i) && x.HighBits() != int64(x.LowBits())>>63 {
				w.bad[k] = 1
			}
		}
	}
}

// rowOf is the k-th of the rows; nil: all.
func rowOf(rows []int32, k int) int {
	if rows == nil {
		return k
	}
	return int(rows[k])
}

// pack puts the values of a part into the words.
func (w *keyWords) pack(p *keyPart) {
	if w.keys.width == 1 {
		for k, x := range w.values {
			w.words[k] |= x << p.place.shift
		}
		return
	}
	for k, x := range w.values {
		w.words[k*w.keys.width+p.place.word] |= x << p.place.shift
	}
}

// compact leaves out the bad keys.
func (w *keyWords) compact(words []uint64, sel []int32, n int) ([]uint64, []int32) {
	any := uint8(0)
	for _, x := range w.bad[:n] {
		any |= x
	}
	if any == 0 {
		return words, sel
	}
	w.rows = resize(w.rows, n)
	width, to := w.keys.width, 0
	for k := range n {
		w.rows[to] = int32(rowOf(sel, k))
		if width == 1 {
			words[to] = words[k]
		} else {
			copy(words[to*width:(to+1)*width], words[k*width:(k+1)*width])
		}
		to += 1 - int(w.bad[k])
	}
	return words[:to*width], w.rows[:to]
}
