package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// namedTest is how docs/failures.md and docs/security.md name a test: `folder TestName` or `folder TestName/part`.
var namedTest = regexp.MustCompile("`([a-z/]+) ((?:Test|Fuzz)[A-Za-z0-9]+)(?:/([^`]+))?`")

// declaration begins a function or a variable of a file.
var declaration = regexp.MustCompile(`(?m)^(?:func|var) (\w+)`)

// TestFailuresAreTested reads docs/failures.md and docs/security.md: each test that they name is there, and its part stands in the test or in a variable that the test names.
func TestFailuresAreTested(t *testing.T) {
	var named [][]string
	for page, least := range map[string]int{"failures.md": 60, "security.md": 25} {
		text, err := os.ReadFile(filepath.Join("..", "docs", page))
		require.NoError(t, err)
		found := namedTest.FindAllStringSubmatch(string(text), -1)
		require.Greater(t, len(found), least, page)
		named = append(named, found...)
	}
	folders := map[string]map[string]string{}
	for _, n := range named {
		folder, name, part := n[1], n[2], n[3]
		if folders[folder] == nil {
			folders[folder] = testDeclarations(t, filepath.Join("..", folder))
		}
		require.Contains(t, folders[folder], name, n[0])
		require.True(t, hasPart(folders[folder], name, part), "%s: there is no such part", n[0])
	}
}

func TestPartsOfTestsAreFound(t *testing.T) {
	in := map[string]string{"TestA": `range cases "folder away"`, "cases": `"P10 lost"`, "TestB": `"P1"`}
	for part, want := range map[string]bool{"": true, "P10": true, "P1": false, "folder": true, "away": false} {
		require.Equal(t, want, hasPart(in, "TestA", part), part)
	}
}

// hasPart says whether a part's name begins so in a test, or in a variable that it names.
func hasPart(declarations map[string]string, test, part string) bool {
	if part == "" {
		return true
	}
	begins := regexp.MustCompile(`"` + regexp.QuoteMeta(part) + `\b`)
	for name, text := range declarations {
		if (name == test || regexp.MustCompile(`\b`+name+`\b`).MatchString(declarations[test])) && begins.MatchString(text) {
			return true
		}
	}
	return false
}

// testDeclarations are the functions and variables of a folder's tests, by name.
func testDeclarations(t *testing.T, folder string) map[string]string {
	paths, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	require.NoError(t, err)
	all := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		found := declaration.FindAllSubmatchIndex(text, -1)
		for i, at := range found {
			end := len(text)
			if i+1 < len(found) {
				end = found[i+1][0]
			}
			all[string(text[at[2]:at[3]])] = string(text[at[0]:end])
		}
	}
	return all
}
