// Command lakesql is a MySQL server on a Delta lake, with streams that are SQL statements.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	_ "time/tzdata" // named time zones also where the machine has none

	"github.com/alecthomas/kong"
)

const about = `A MySQL server on a Delta lake, with streams that are SQL statements.

lakesql serves a folder of Delta tables to every MySQL client. CREATE STREAM reads the files that arrive in another folder into a
table: each row exactly once, also after a crash.

  lakesql demo                          see it at work: nothing to prepare, nothing is left behind but a temporary folder
  lakesql serve --warehouse ./lake      run the server on 127.0.0.1:3306
  lakesql sql                           talk to it; any MySQL client does as well`

// commands is the command line.
type commands struct {
	Serve   serveCommand   `cmd:"" help:"Run the server on a lake."`
	SQL     sqlCommand     `cmd:"" name:"sql" help:"Run statements: a shell, -e 'statements', a file, or standard input."`
	Demo    demoCommand    `cmd:"" help:"Play a stream from its first file to a crash and back, and check each step."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// streams are a program's standard streams.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// exit is how kong's own --help ends the program; run turns it into a return.
type exit int

func main() {
	os.Exit(run(os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

// run runs a command line and returns the exit code: 0 for success, 1 for a failure, 2 for a command line that makes no sense.
func run(args []string, std streams) (code int) {
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case exit:
			code = int(fault)
		default:
			panic(fault)
		}
	}()
	parser, err := kong.New(&commands{}, kong.Name("lakesql"), kong.Description(about), kong.Writers(std.out, std.err),
		kong.Exit(func(code int) { panic(exit(code)) }), kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 130}))
	if err != nil {
		fmt.Fprintln(std.err, "lakesql:", err)
		return 1
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(std.err, "lakesql: %v\nlakesql --help lists the commands and flags.\n", err)
		return 2
	}
	if err := command.Run(std); err != nil {
		if !errors.Is(err, errReported) {
			fmt.Fprintln(std.err, "lakesql:", err)
		}
		return 1
	}
	return 0
}

// errReported is a failure that the command has told of.
var errReported = errors.New("reported")
