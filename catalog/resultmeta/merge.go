package resultmeta

import "github.com/dolthub/vitess/go/sqltypes"

// merge is the column of values that are of one or another column, as in CASE and in UNION. Whether it may be NULL is the caller's to say.
func merge(columns ...Column) Column {
	var of []Column
	for _, c := range columns {
		if !c.Known {
			return Column{}
		}
		if c.Type != sqltypes.Null {
			of = append(of, c)
		}
	}
	switch {
	case len(of) == 0:
		return Column{Known: true, Type: sqltypes.Null}
	case all(of, func(c Column) bool { return c.Type == sqltypes.TypeJSON }):
		return document()
	case all(of, func(c Column) bool { return c.isInteger() || c.isReal() || c.Type == sqltypes.Decimal }):
		return mergeNumbers(of)
	case all(of, func(c Column) bool { return c.isMoment() && c.Type != sqltypes.Time }), all(of, func(c Column) bool { return c.Type == sqltypes.Time }):
		made := of[0].item()
		for _, c := range of {
			if c.Type != made.Type {
				made.Type = sqltypes.Datetime
			}
			made.Decimals, made.Length = max(made.Decimals, c.Decimals), max(made.Length, c.Length)
		}
		return made.nullable()
	}
	return mergeTexts(of)
}

func all(columns []Column, is func(Column) bool) bool {
	for _, c := range columns {
		if !is(c) {
			return false
		}
	}
	return true
}

func mergeNumbers(of []Column) Column {
	made, n := of[0].item(), of[0].number()
	for _, c := range of[1:] {
		other := c.number()
		switch {
		case made.isReal() || c.isReal():
			if made.Type != sqltypes.Float32 || c.Type != sqltypes.Float32 {
				made.Type = sqltypes.Float64
			}
		case made.Type == sqltypes.Decimal || c.Type == sqltypes.Decimal:
			made.Type = sqltypes.Decimal
		case made.isUnsigned() != c.isUnsigned() && (made.Type == sqltypes.Uint64 || c.Type == sqltypes.Uint64):
			made.Type = sqltypes.Decimal
		case made.isUnsigned() != c.isUnsigned():
			made.Type = sqltypes.Int64
		case integerLengths[c.Type] > integerLengths[made.Type]:
			made.Type = c.Type
		}
		scale := max(n.scale, other.scale)
		n.precision, n.scale = max(n.whole(), other.whole())+scale, scale
		made.Length = max(made.Length, c.Length)
	}
	switch {
	case made.Type == sqltypes.Decimal:
		return decimal(n.precision, n.scale, false)
	case made.isReal():
		kind := made.Type
		made = double(false)
		made.Type = kind
	}
	return made.nullable()
}

func mergeTexts(of []Column) Column {
	made := of[0].asText()
	for _, c := range of {
		t := c.asText()
		if t.isBytes() && !made.isBytes() {
			made = binary(max(made.Length*characterBytes, t.Length), false)
		} else if made.isBytes() {
			length := t.Length
			if !t.isBytes() {
				length *= characterBytes
			}
			made = binary(max(made.Length, length), false)
		} else {
			bytewise := made.Bytewise || t.Bytewise
			made = text(max(made.Length, t.Length), false)
			made.Bytewise = bytewise
		}
	}
	return made.nullable()
}

// eachNotNull says whether none of the columns may be NULL.
func eachNotNull(columns []Column) bool {
	return all(columns, func(c Column) bool { return c.NotNull })
}

// anyNotNull says whether one of the columns is never NULL.
func anyNotNull(columns []Column) bool {
	return !all(columns, func(c Column) bool { return !c.NotNull })
}
