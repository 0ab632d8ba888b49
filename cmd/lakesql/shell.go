package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/reeflective/readline"

	"lakesql/version"
)

const shellHelp = `Statements end in ; or, for one column a line, in \G. They may go over several lines.
  source FILE   run the statements of a file
  \c            forget what was typed
  \h, help      this text
  \q, exit      end; so does Ctrl-D
Ctrl-C stops the statement that runs, or forgets what was typed.
SHOW STREAMS; SHOW DATABASES; SHOW TABLES; DESCRIBE name; are good first statements.`

// shell is the conversation with a person.
type shell struct {
	script *script
	line   *readline.Shell
}

func newShell(s *script) *shell {
	s.format = asTable
	sh := &shell{script: s, line: readline.NewShell()}
	sh.line.Prompt.Primary(func() string { return "lakesql> " })
	sh.line.Prompt.Secondary(func() string { return "      -> " })
	sh.line.AcceptMultiline = func(line []rune) bool { return isComplete(string(line)) }
	if file, err := historyFile(); err == nil {
		sh.line.History.Add("statements", openHistory(file))
	} else {
		fmt.Fprintln(s.err, "lakesql: statements are not kept for the next time:", err)
	}
	return sh
}

func historyFile() (string, error) {
	dir, err := defaultDataDir(os.Getenv)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return filepath.Join(dir, "history"), nil
}

// isComplete tells whether what was typed can be run: the shell's own command, or statements of which the last one has its end mark.
func isComplete(text string) bool {
	if isCommand(text) {
		return true
	}
	pieces := split(text)
	return len(pieces) == 0 || pieces[len(pieces)-1].complete
}

func isCommand(text string) bool {
	word := commandOf(text)
	_, source := sourceFile(strings.TrimSpace(text))
	return word != "" || source
}

// commandOf returns the shell's command that a line is: quit, help, clear, or nothing.
func commandOf(text string) string {
	switch strings.ToLower(strings.TrimRight(strings.TrimSpace(text), "; \t")) {
	case `\q`, "quit", "exit":
		return "quit"
	case `\h`, `\?`, "help", "?":
		return "help"
	case `\c`:
		return "clear"
	}
	if strings.HasSuffix(strings.TrimSpace(text), `\c`) {
		return "clear"
	}
	return ""
}

// loop reads and runs until the person leaves.
func (s *shell) loop(ctx context.Context) error {
	fmt.Fprintln(s.script.out, `lakesql `+version.String()+`. Statements end in ;   \h for help, \q to leave.`)
	for {
		text, err := s.line.Readline()
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read a line: %w", err)
		}
		switch commandOf(text) {
		case "quit":
			return nil
		case "help":
			fmt.Fprintln(s.script.out, shellHelp)
		case "":
			if err := s.runStoppable(ctx, text); err != nil && !errors.Is(err, errReported) {
				fmt.Fprintln(s.script.err, "lakesql:", err)
			}
		}
	}
}

// runStoppable runs statements; Ctrl-C stops the one that runs and keeps the session.
func (s *shell) runStoppable(ctx context.Context, text string) error {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for {
			select {
			case <-done:
				return
			case <-interrupts:
				if err := s.script.client.stop(ctx); err != nil {
					fmt.Fprintln(s.script.err, "lakesql:", err)
				}
			}
		}
	}()
	defer func() {
		close(done)
		<-watched
	}()
	return s.script.run(ctx, text)
}
