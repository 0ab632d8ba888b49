package stream

import (
	"slices"
	"strings"

	"lakesql/stream/source"
)

// inStores are the sources whose rows come out of a store.
func inStores(specs []source.Spec) []source.Spec {
	return slices.DeleteFunc(slices.Clone(specs), func(s source.Spec) bool { return s.Path == "" })
}

// placeOf is the one spelling of what a source reads: the folder of a table, or a pattern.
func placeOf(spec source.Spec) string {
	if spec.Table {
		return canonicalURI(spec.Path)
	}
	return canonicalPattern(spec.Path)
}

// folderOf is the deepest folder above everything that a source reads, itself among it where it is one.
func folderOf(spec source.Spec) string {
	if spec.Table {
		return canonicalURI(spec.Path)
	}
	return fixedPart(canonicalPattern(spec.Path))
}

// mayRead reports whether uri, or what lies in it, is among what a source may read. What lies in a table's folder below a name with _ or . is not.
func mayRead(spec source.Spec, uri string) bool {
	place := placeOf(spec)
	if !spec.Table {
		return mayMatchAbove(place, uri)
	}
	below, in := strings.CutPrefix(uri, place+"/")
	return uri == place || in && !isHidden(below)
}

// tablesOf are the folders of the tables among the sources.
func tablesOf(specs []source.Spec) []string {
	var out []string
	for _, s := range specs {
		if s.Table {
			out = append(out, placeOf(s))
		}
	}
	return out
}
