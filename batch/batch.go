package batch

import "github.com/apache/arrow/go/v17/arrow/decimal128"

// MaxRows is the number of rows that producers put into one batch at the most: small enough for a column to stay in
// the second-level cache, large enough to spread the cost of a call.
const MaxRows = 8192

// Bitmap has bit i of word i/64 set where row i is valid: Arrow's validity layout on a little-endian machine.
type Bitmap []uint64

// Vector is one column of a batch: typed values in Arrow's layout. Only the field that its kind names is set
// (see Kind), or Codes and Dict when it is dictionary encoded.
//
// A vector handed to a consumer is read-only and stays valid until the producer's next call, unless the producer says
// longer. Values at null rows are unspecified but readable.
type Vector struct {
	Type  Type
	Len   int
	Valid Bitmap // nil: no row is null

	Bools []bool
	I8    []int8
	I16   []int16
	I32   []int32
	I64   []int64
	F32   []float32
	F64   []float64
	Dec   []decimal128.Num
	Off   []int32 // Len+1 offsets into Bytes, or into Children where the type is a List or Map
	Bytes []byte

	// Children are the vectors below a nested one: a struct's or variant's fields, each of Len rows; the elements of a list; the keys and
	// values of a map. They may be dictionary encoded; a nested vector itself never is. Below a null struct a child's value is unspecified.
	Children []*Vector

	Codes []uint32 // row i is Dict's row Codes[i]
	Dict  *Vector  // the distinct values, itself plain and without nulls
}

// Batch is up to MaxRows rows of several columns of one length.
type Batch struct {
	Schema *Schema
	Cols   []*Vector
	Len    int     // physical rows in each column
	Sel    []int32 // the selected rows in ascending order; nil: all of them
}
