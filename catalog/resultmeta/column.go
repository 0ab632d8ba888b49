package resultmeta

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// Column is what a client is told of a column of a result.
type Column struct {
	Known    bool // false: GMS's type says all
	Type     querypb.Type
	Length   uint64 // the most characters that a value's text has
	Decimals uint32
	NotNull  bool
	// Bytewise texts have a collation that compares by bytes.
	Bytewise bool
	// Stored columns are those of a table, temporary ones too: numbers are not flagged BINARY, and long texts are flagged BLOB.
	Stored bool
}

// Limits of MySQL.
const (
	maxPrecision = 65
	maxScale     = 30

	integerLength  = 21 // of a BIGINT that a function makes
	doubleLength   = 23 // of a DOUBLE that a function makes
	noDecimals     = 31 // a text, or a number without a fixed scale
	jsonLength     = (1<<32 - 4) / 4
	longLength     = 1 << 30 // of the longest texts
	packetLength   = 1 << 24 // of a text that a function puts together
	groupLength    = 1 << 14 // of GROUP_CONCAT
	varcharBytes   = 1<<16 - 1
	characterBytes = 4
)

func integer(length uint64, notNull bool) Column {
	return Column{Known: true, Type: sqltypes.Int64, Length: length, NotNull: notNull}
}

func unsigned(length uint64, notNull bool) Column {
	return Column{Known: true, Type: sqltypes.Uint64, Length: length, NotNull: notNull}
}

func truth(notNull bool) Column { return integer(1, notNull) }

func double(notNull bool) Column {
	return Column{Known: true, Type: sqltypes.Float64, Length: doubleLength, Decimals: noDecimals, NotNull: notNull}
}

// decimal is a DECIMAL of so many digits, held within MySQL's limits.
func decimal(precision, scale uint64, notNull bool) Column {
	scale = min(scale, maxScale)
	precision = max(min(precision, maxPrecision), scale)
	length := precision + 1
	if scale > 0 {
		length++
	}
	return Column{Known: true, Type: sqltypes.Decimal, Length: length, Decimals: uint32(scale), NotNull: notNull}
}

// text is a VARCHAR, or a TEXT when it is longer than one.
func text(length uint64, notNull bool) Column {
	c := Column{Known: true, Type: sqltypes.VarChar, Length: min(length, longLength), Decimals: noDecimals, NotNull: notNull}
	if c.Length*characterBytes > varcharBytes {
		c.Type = sqltypes.Text
	}
	return c
}

// binary is a text of so many bytes, without a character set.
func binary(length uint64, notNull bool) Column {
	c := Column{Known: true, Type: sqltypes.VarBinary, Length: min(length, math.MaxUint32), Decimals: noDecimals, NotNull: notNull}
	if c.Length > varcharBytes {
		c.Type = sqltypes.Blob
	}
	return c
}

func document() Column {
	return Column{Known: true, Type: sqltypes.TypeJSON, Length: jsonLength, Decimals: noDecimals, Bytewise: true}
}

func date() Column { return Column{Known: true, Type: sqltypes.Date, Length: 10} }

func datetime(digits uint32) Column {
	return Column{Known: true, Type: sqltypes.Datetime, Length: withFraction(19, digits), Decimals: digits}
}

func timeOfDay(digits uint32) Column {
	return Column{Known: true, Type: sqltypes.Time, Length: withFraction(10, digits), Decimals: digits}
}

func withFraction(length uint64, digits uint32) uint64 {
	if digits == 0 {
		return length
	}
	return length + 1 + uint64(digits)
}

// integerLengths are the lengths of a table's integers.
var integerLengths = map[querypb.Type]uint64{
	sqltypes.Int8: 4, sqltypes.Int16: 6, sqltypes.Int24: 9, sqltypes.Int32: 11, sqltypes.Int64: 20,
	sqltypes.Uint8: 3, sqltypes.Uint16: 5, sqltypes.Uint24: 8, sqltypes.Uint32: 10, sqltypes.Uint64: 20, sqltypes.Year: 4,
}

// ofType is a column of a table.
func ofType(t sql.Type, notNull bool) Column {
	c := Column{Known: true, Type: t.Type(), NotNull: notNull}
	switch {
	case t.Type() == sqltypes.Null:
		return Column{Known: true, Type: sqltypes.Null}
	case types.IsJSON(t):
		c.Length, c.Bytewise = longLength, true
	case types.IsDecimal(t):
		d := t.(sql.DecimalType)
		return decimal(uint64(d.Precision()), uint64(d.Scale()), notNull)
	case t.Type() == sqltypes.Float32:
		c.Length, c.Decimals = 12, noDecimals
	case t.Type() == sqltypes.Float64:
		c.Length, c.Decimals = 22, noDecimals
	case t.Type() == sqltypes.Date:
		c.Length = 10
	case types.IsTimespan(t):
		c = timeOfDay(6)
		c.NotNull = notNull
	}
	if number, ok := t.(sql.NumberType); ok {
		if length, ok := integerLengths[c.Type]; ok {
			c.Length = length
		}
		if width := number.DisplayWidth(); width > 0 {
			c.Length = uint64(width)
		}
	} else if c.Type == sqltypes.Year {
		c.Length = integerLengths[c.Type]
	}
	if moment, ok := t.(sql.DatetimeType); ok && c.Type != sqltypes.Date {
		c.Decimals = uint32(moment.Precision())
		c.Length = withFraction(19, c.Decimals)
	}
	switch s := t.(type) {
	case sql.StringType:
		c.Length, c.Decimals = uint64(max(s.MaxCharacterLength(), 0)), noDecimals
		if types.IsBinaryType(t) {
			c.Length = uint64(max(s.MaxByteLength(), 0))
		} else if c.Bytewise = isBytewise(s.Collation()); c.Length*characterBytes > varcharBytes {
			c.Length = longLength
		}
	case sql.EnumType:
		for _, v := range s.Values() {
			c.Length = max(c.Length, uint64(len([]rune(v))))
		}
		c.Decimals = noDecimals
	case sql.SetType:
		for _, v := range s.Values() {
			c.Length += uint64(len([]rune(v))) + 1
		}
		c.Decimals = noDecimals
	}
	return c
}

func isBytewise(c sql.CollationID) bool { return c == sql.Collation_utf8mb4_bin }

// item is a column as an expression that keeps its values has it.
func (c Column) item() Column {
	switch {
	case c.isText():
		made := c.asText()
		made.NotNull = c.NotNull
		return made
	case c.Type == sqltypes.TypeJSON:
		made := document()
		made.NotNull = c.NotNull
		return made
	}
	c.Stored = false
	return c
}

// stored is a column as a temporary table has it.
func (c Column) stored() Column {
	c.Stored = true
	if c.isText() || c.Type == sqltypes.TypeJSON {
		c.Decimals = 0
	}
	return c
}

func (c Column) nullable() Column {
	c.NotNull = false
	return c
}

func (c Column) notNull(is bool) Column {
	c.NotNull = is
	return c
}

// asText is what a function of texts takes a column for.
func (c Column) asText() Column {
	switch {
	case c.isBytes():
		return binary(c.Length, c.NotNull)
	case c.Type == sqltypes.TypeJSON:
		made := text(longLength, c.NotNull)
		made.Bytewise = true
		return made
	}
	made := text(c.Length, c.NotNull)
	made.Bytewise = c.Bytewise
	return made
}

func (c Column) isBytes() bool {
	switch c.Type {
	case sqltypes.VarBinary, sqltypes.Binary, sqltypes.Blob:
		return true
	}
	return false
}

func (c Column) isText() bool {
	switch c.Type {
	case sqltypes.VarChar, sqltypes.Char, sqltypes.Text, sqltypes.Enum, sqltypes.Set:
		return true
	}
	return c.isBytes()
}

func (c Column) isInteger() bool { return sqltypes.IsIntegral(c.Type) || c.Type == sqltypes.Year }

func (c Column) isUnsigned() bool { return sqltypes.IsUnsigned(c.Type) || c.Type == sqltypes.Year }

func (c Column) isReal() bool { return c.Type == sqltypes.Float32 || c.Type == sqltypes.Float64 }

func (c Column) isMoment() bool {
	switch c.Type {
	case sqltypes.Date, sqltypes.Datetime, sqltypes.Timestamp, sqltypes.Time:
		return true
	}
	return false
}
