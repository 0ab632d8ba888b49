package batch

import "math/bits"

// bitmapWords returns how many words n bits take.
func bitmapWords(n int) int { return (n + 63) / 64 }

// NewBitmap returns a bitmap of n bits, all set: no row is null.
func NewBitmap(n int) Bitmap {
	b := make(Bitmap, bitmapWords(n))
	b.SetRange(0, n)
	return b
}

// Get returns bit i.
func (b Bitmap) Get(i int) bool { return b[i>>6]>>(uint(i)&63)&1 != 0 }

// Set sets bit i.
func (b Bitmap) Set(i int) { b[i>>6] |= 1 << (uint(i) & 63) }

// Clear clears bit i.
func (b Bitmap) Clear(i int) { b[i>>6] &^= 1 << (uint(i) & 63) }

// SetRange sets the bits [lo, hi).
func (b Bitmap) SetRange(lo, hi int) {
	for lo < hi {
		word, bit := lo>>6, uint(lo)&63
		n := min(64-int(bit), hi-lo)
		b[word] |= onesBelow(n) << bit
		lo += n
	}
}

// Count returns how many of the first n bits are set.
func (b Bitmap) Count(n int) int {
	count := 0
	for _, w := range b[:n>>6] {
		count += bits.OnesCount64(w)
	}
	if rest := n & 63; rest != 0 {
		count += bits.OnesCount64(b[n>>6] & onesBelow(rest))
	}
	return count
}

// slice returns the bits [lo, hi) as a bitmap of its own; it shares memory where lo falls on a word.
func (b Bitmap) slice(lo, hi int) Bitmap {
	if lo&63 == 0 {
		return b[lo>>6 : lo>>6+bitmapWords(hi-lo)]
	}
	out := make(Bitmap, bitmapWords(hi-lo))
	copyBits(out, 0, b, lo, hi-lo)
	return out
}

// copyBits copies n bits of src from position from into dst at position at. The bits of dst from at on must be clear.
func copyBits(dst Bitmap, at int, src Bitmap, from, n int) {
	for n > 0 {
		take := min(n, 64-at&63, 64-from&63)
		word := src[from>>6] >> (uint(from) & 63) & onesBelow(take)
		dst[at>>6] |= word << (uint(at) & 63)
		at, from, n = at+take, from+take, n-take
	}
}

// Grow returns the bitmap with room for n bits; added words are clear.
func (b Bitmap) Grow(n int) Bitmap {
	for len(b) < bitmapWords(n) {
		b = append(b, 0)
	}
	return b
}

// onesBelow returns a word whose lowest n bits are set, 0 <= n <= 64.
func onesBelow(n int) uint64 {
	if n == 64 {
		return ^uint64(0)
	}
	return 1<<uint(n) - 1
}
