package mysqltype

import (
	"maps"
	"strconv"
	"strings"

	"lakesql/batch"
	"lakesql/delta"
)

// Redeclare returns a column with the declaration of another of its Delta type: CHAR(n), VARCHAR(n), JSON or a string without any. false
// when a value of the column need not be one of the new declaration.
func Redeclare(have, want batch.Field) (batch.Field, bool) {
	was, becomes := have.MetadataText(delta.CharVarcharKey), want.MetadataText(delta.CharVarcharKey)
	json := want.MetadataText(typeKey)
	if was == becomes && have.MetadataText(typeKey) == json {
		return have, true
	}
	if json != "" || becomes != "" && !fitsDeclared(was, becomes) {
		return have, false
	}
	have.Metadata = maps.Clone(have.Metadata)
	delete(have.Metadata, typeKey)
	delete(have.Metadata, delta.CharVarcharKey)
	if becomes != "" {
		have.Metadata[delta.CharVarcharKey] = want.Metadata[delta.CharVarcharKey]
	}
	return have, true
}

// fitsDeclared says whether every text of one declared type is one of another: a VARCHAR that is not shorter.
func fitsDeclared(from, to string) bool {
	kind, n := declaredLength(to)
	_, m := declaredLength(from)
	return kind == "varchar" && m > 0 && m <= n
}

// declaredLength takes varchar(20) apart; 0 for a text that is no such type.
func declaredLength(text string) (kind string, n int) {
	kind, rest, _ := strings.Cut(text, "(")
	n, _ = strconv.Atoi(strings.TrimSuffix(rest, ")"))
	return kind, n
}
