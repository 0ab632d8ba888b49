package main

import (
	"embed"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// suite is a set of queries over tables of one database. The text of a query is the same for all engines.
type suite struct {
	name  string // of the database too
	title string
	about string                                   // what the data is, for the page
	make  func(folder string, scale float64) error // the tables; scale 1 is all of the data
	// sample is the scale of the data that go-mysql-server's rows are measured on: over the whole they would take minutes or hours.
	sample   float64
	sampling bool // this is the suite over its sample
	version  int  // of the data: another one is made anew
}

var suites = []suite{basicSuite, tpchSuite, wideSuite}

// suiteQuery is one query of a suite.
type suiteQuery struct {
	name  string // of the file, without its extension
	title string // the comment in its first line
	text  string
}

//go:embed queries
var queryFiles embed.FS

// sampled is the suite over its sample.
func (s suite) sampled() suite {
	s.sampling = true
	return s
}

// database is where the tables are: the folder of the suite, and lakesql's database.
func (s suite) database() string {
	if s.sampling {
		return s.name + "_sample"
	}
	return s.name
}

// scale is that of the data.
func (s suite) scale() float64 {
	if s.sampling {
		return s.sample
	}
	return 1
}

// queries are those of the suite that match, in the order of their names.
func (s suite) queries(match *regexp.Regexp) ([]suiteQuery, error) {
	folder := path.Join("queries", s.name)
	files, err := queryFiles.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var out []suiteQuery
	for _, f := range files {
		text, err := queryFiles.ReadFile(path.Join(folder, f.Name()))
		if err != nil {
			return nil, err
		}
		title, query, ok := strings.Cut(string(text), "\n")
		if title, ok = strings.CutPrefix(title, "-- "); !ok {
			return nil, fmt.Errorf("%s/%s has no comment with its title", folder, f.Name())
		}
		q := suiteQuery{name: strings.TrimSuffix(f.Name(), ".sql"), title: title, text: strings.TrimSuffix(strings.TrimSpace(query), ";")}
		if match.MatchString(q.name) {
			out = append(out, q)
		}
	}
	return out, nil
}
