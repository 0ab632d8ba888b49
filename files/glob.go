package files

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// globs that a pattern may expand its {a,b} to.
const maxGlobs = 1000

// location is a pattern taken apart: the part without wildcards, and the wildcards below it.
type location struct {
	base  string     // URI of the deepest folder without wildcards; without any wildcard, of the file or folder itself
	globs [][]string // each a list of segments below base, decoded, in path.Match's syntax; nil: no wildcards
}

// wildcards are the characters that make a name a pattern. A backslash before one takes its meaning.
const wildcards = `*?[{\`

// parseLocation takes an absolute URI apart. In it %XX stands for its character, wildcards too: URIs are made of what
// people write, and their encoding does not keep the two apart.
func parseLocation(pattern string) (location, error) {
	scheme, rest, ok := strings.Cut(pattern, ":")
	if !ok || !strings.HasPrefix(rest, "/") {
		return location{}, fmt.Errorf("%q is no absolute URI: write file:///folder or file:///folder/*.csv", pattern)
	}
	segments := strings.Split(strings.TrimRight(rest, "/"), "/")
	for i, segment := range segments {
		decoded, err := url.PathUnescape(segment)
		if err != nil {
			return location{}, fmt.Errorf("%q: %w; a percent sign itself is written %%25", pattern, err)
		}
		if !strings.ContainsAny(decoded, wildcards) {
			continue
		}
		tail, err := url.PathUnescape(strings.Join(segments[i:], "/"))
		if err != nil {
			return location{}, fmt.Errorf("%q: %w; a percent sign itself is written %%25", pattern, err)
		}
		globs, err := parseGlobs(tail)
		if err != nil {
			return location{}, fmt.Errorf("pattern %q: %w", pattern, err)
		}
		return location{base: scheme + ":" + strings.Join(segments[:i], "/"), globs: globs}, nil
	}
	return location{base: scheme + ":" + strings.Join(segments, "/")}, nil
}

// negation turns [!a] into path.Match's [^a], where the bracket is not escaped.
var negation = strings.NewReplacer(`\\`, `\\`, `\[`, `\[`, "[!", "[^")

func parseGlobs(tail string) ([][]string, error) {
	expanded, err := expandBraces(tail)
	if err != nil {
		return nil, err
	}
	globs := make([][]string, len(expanded))
	for i, glob := range expanded {
		globs[i] = strings.Split(negation.Replace(glob), "/")
		for _, segment := range globs[i] {
			if _, err := path.Match(segment, ""); err != nil {
				return nil, fmt.Errorf(`%q is a bad pattern: a [ needs its ], and \[ is a bracket itself`, segment)
			}
		}
	}
	return globs, nil
}

// expandBraces turns a{b,c}d into abd and acd; braces may be nested.
func expandBraces(pattern string) ([]string, error) {
	open := 0
	for open < len(pattern) && pattern[open] != '{' {
		if pattern[open] == '\\' {
			open++
		}
		open++
	}
	if open >= len(pattern) {
		return []string{pattern}, nil
	}
	depth, start := 0, open+1
	var choices []string
	for i := open; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '{':
			depth++
		case ',':
			if depth == 1 {
				choices = append(choices, pattern[start:i])
				start = i + 1
			}
		case '}':
			if depth--; depth > 0 {
				continue
			}
			choices = append(choices, pattern[start:i])
			var out []string
			for _, choice := range choices {
				more, err := expandBraces(pattern[:open] + choice + pattern[i+1:])
				if err != nil {
					return nil, err
				}
				if out = append(out, more...); len(out) > maxGlobs {
					return nil, fmt.Errorf("its braces stand for more than %d patterns", maxGlobs)
				}
			}
			return out, nil
		}
	}
	return nil, fmt.Errorf("a { needs its }")
}

// matchName says whether a name matches one segment of a glob. Wildcards do not match hidden names.
func matchName(segment, name string) bool {
	if hidden(name) && (segment == "" || segment[0] != name[0]) {
		return false
	}
	ok, err := path.Match(segment, name)
	return ok && err == nil // the segment was checked when the pattern was parsed
}

// hidden says whether Spark's listing leaves a file or folder of this name out.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") && !strings.Contains(name, "=") ||
		strings.HasSuffix(name, "._COPYING_")
}
