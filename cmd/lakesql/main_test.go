package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"lakesql/store"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"lakesql": func() { os.Exit(run(os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})) },
	})
}

// TestProgram plays testdata/*.txtar: what a person types, and what is printed.
func TestProgram(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_DATA_HOME", env.WorkDir+"/data")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"takeport": takePort,
			"await":    await,
		},
	})
}

// takePort opens a port until the script ends, and sets PORT.
func takePort(ts *testscript.TestScript, _ bool, _ []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { ts.Check(l.Close()) })
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Setenv("PORT", port)
}

// await NAME sets PORT to the port in the ready line of a server whose output goes to the file NAME.
func await(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(readyTimeout); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		if err != nil {
			continue
		}
		first, _, _ := strings.Cut(string(text), "\n")
		if m := readyLine.FindStringSubmatch(first); m != nil {
			_, port, err := net.SplitHostPort(m[1])
			ts.Check(err)
			ts.Setenv("PORT", port)
			return
		}
	}
	ts.Fatalf("no ready line in %s", args[0])
}

func TestSplit(t *testing.T) {
	for text, want := range map[string][]piece{
		"":                          nil,
		" ; ;; ":                    nil,
		"-- a comment; really\n":    nil,
		"SELECT 1":                  {{text: "SELECT 1", line: 1}},
		"SELECT 1;":                 {{text: "SELECT 1", line: 1, complete: true}},
		"SELECT ';'; SELECT `a;b`;": {{text: "SELECT ';'", line: 1, complete: true}, {text: "SELECT `a;b`", line: 1, complete: true}},
		"a\n;\n\nb\\G c\\g":         {{text: "a", line: 1, complete: true}, {text: "b", line: 4, vertical: true, complete: true}, {text: "c", line: 4, complete: true}},
		"SELECT 'it\\'s;', 'it''s;'; # x;\nb;": {{text: "SELECT 'it\\'s;', 'it''s;'", line: 1, complete: true},
			{text: "# x;\nb", line: 1, complete: true}},
		"SELECT '\\G' /* ; */ -- ;\n, 2;": {{text: "SELECT '\\G' /* ; */ -- ;\n, 2", line: 1, complete: true}},
		"SELECT 'open;":                   {{text: "SELECT 'open;", line: 1}},
		"SELECT 1--1;":                    {{text: "SELECT 1--1", line: 1, complete: true}},
		"/*! SELECT 1 */;":                {{text: "/*! SELECT 1 */", line: 1, complete: true}},
	} {
		require.Equal(t, want, split(text), text)
	}
}

func TestByteOrderMarkIsNoPartOfAFile(t *testing.T) {
	var out strings.Builder
	s := script{err: &out}
	require.NoError(t, s.run(t.Context(), byteOrderMark+" -- nothing\n"))
	require.Empty(t, out.String())
}

func TestWhatIsTypedIsCompleteOrNot(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "SELECT 1": false, "SELECT 1;": true, "SELECT 1\\G": true, "\\q": true, "quit": true, "help;": true, "source x.sql": true,
		"SELECT ';": false, "SELECT 1; SELECT": false, "SELECT 1 \\c": true,
	} {
		require.Equal(t, want, isComplete(text), text)
	}
}

func TestSettingsComeFromFlagsThenEnvironmentThenFile(t *testing.T) {
	file := t.TempDir() + "/lakesql.yaml"
	require.NoError(t, os.WriteFile(file, []byte("warehouse: /from/file\nlisten: 127.0.0.1:1\nallow_paths: [/a, /b]\nhttp: 127.0.0.1:9\n"), 0o600))
	env := map[string]string{"LAKESQL_LISTEN": "127.0.0.1:2", "LAKESQL_HTTP": "127.0.0.1:8", "XDG_DATA_HOME": "/data"}
	getenv := func(name string) string { return env[name] }
	s, err := resolve(file, getenv, settings{HTTP: "127.0.0.1:7"})
	require.NoError(t, err)
	require.Equal(t, settings{Warehouse: "/from/file", Listen: "127.0.0.1:2", HTTP: "127.0.0.1:7", DataDir: "/data/lakesql",
		AllowPaths: []string{"/a", "/b"}, LogLevel: "info", LogFormat: "text"}, s)

	here, err := os.Getwd()
	require.NoError(t, err)
	s, err = resolve("", getenv, settings{})
	require.NoError(t, err)
	require.Equal(t, here+"/lake", s.Warehouse)
	require.Equal(t, []string{here}, s.AllowPaths)

	require.NoError(t, os.WriteFile(file, []byte("warehous: x\n"), 0o600))
	_, err = resolve(file, getenv, settings{})
	require.ErrorContains(t, err, "warehous")
	_, err = resolve("", getenv, settings{Warehouse: "s3://bucket/lake"})
	require.ErrorContains(t, err, "only folders of this machine")
}

func TestTheServersOwnFoldersAreOutOfReach(t *testing.T) {
	dir := t.TempDir()
	fence, err := store.NewFence(dir, dir)
	require.NoError(t, err)
	s := settings{Warehouse: filepath.Join(dir, "lake"), DataDir: filepath.Join(dir, "data"), SpillDir: filepath.Join(dir, "spill"), SSLKey: filepath.Join(dir, "key.pem")}
	require.NoError(t, keepOut(fence, s))
	for _, path := range []string{"data/users", "spill/x", "key.pem"} {
		_, err := fence.Resolve(path)
		require.ErrorContains(t, err, "keeps for itself", path)
	}
	_, err = fence.Resolve("lake/t")
	require.NoError(t, err)
	s.DataDir = s.Warehouse
	require.ErrorContains(t, keepOut(fence, s), "is the lake's folder")
}
