// Package version says which lakesql this is, in one spelling for all who tell it: `lakesql version`, the server's handshake,
// the engineInfo of commits and the created_by of Parquet files.
package version

import (
	"runtime/debug"
	"sync"
)

// linked is set by the linker: -X lakesql/version.linked=...
var linked string

// unknown is the version of a build that nothing is known of, as of a test.
const unknown = "dev"

// String is what the linker was given, else what the Go tool recorded of the module and its checkout, else "dev".
var String = sync.OnceValue(func() string {
	if linked != "" {
		return linked
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return unknown
})
