package likemysql

import (
	"slices"
	"strings"
)

// differs names the kinds in which ours is another answer than theirs.
func differs(ours, theirs answer) []string {
	if slices.Equal(ours, theirs) {
		return nil
	}
	mine, yours := ours.parts(), theirs.parts()
	if (len(mine["error"]) > 0) != (len(yours["error"]) > 0) {
		return []string{outcome}
	}
	if len(mine["error"]) > 0 {
		if strings.Join(strings.Fields(mine["error"][0])[:2], " ") != strings.Join(strings.Fields(yours["error"][0])[:2], " ") {
			return []string{number}
		}
		return []string{message}
	}
	var kinds []string
	if len(mine["column"]) != len(yours["column"]) {
		kinds = append(kinds, incomplete)
	} else {
		kinds = columnsDiffer(mine["column"], yours["column"])
	}
	for _, k := range []struct{ word, kind string }{{"row", rows}, {"done", effect}, {"warning", warnings}} {
		if !slices.Equal(mine[k.word], yours[k.word]) {
			kinds = append(kinds, k.kind)
		}
	}
	return kinds
}

// parts are the lines by their first word, without it.
func (a answer) parts() map[string][]string {
	parts := map[string][]string{}
	for _, line := range a {
		word, rest, _ := strings.Cut(line, " ")
		parts[word] = append(parts[word], rest)
	}
	return parts
}

// columnsDiffer names the kinds in which the metadata of columns differs. A name is quoted and may have spaces: what follows it is read from the end.
func columnsDiffer(ours, theirs []string) (kinds []string) {
	for i, kind := range []string{names, types, lengths, decimals, charsets, flags} {
		for n := range ours {
			if columnPart(ours[n], i) != columnPart(theirs[n], i) {
				kinds = append(kinds, kind)
				break
			}
		}
	}
	return kinds
}

func columnPart(column string, i int) string {
	words := strings.Split(column, " ")
	name := len(words) - 9 // TYPE length N decimals N charset N flags N
	return []string{strings.Join(words[:name], " "), words[name], words[name+2], words[name+4], words[name+6], words[name+8]}[i]
}
