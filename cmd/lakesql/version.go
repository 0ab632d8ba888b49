package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"lakesql/version"
)

// versionCommand is `lakesql version`.
type versionCommand struct{}

// Run prints the version, the commit that was built and the Go version.
func (versionCommand) Run(std streams) error {
	_, err := fmt.Fprintf(std.out, "lakesql %s\ncommit  %s\ngo      %s %s/%s\n", version.String(), commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// commit is what the Go tool recorded of the checkout.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, modified := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ", with changes"
		}
	}
	return revision + modified
}
