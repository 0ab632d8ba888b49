package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
)

// script runs statements and prints what they give.
type script struct {
	client *client
	out    io.Writer
	err    io.Writer
	format format
}

// byteOrderMark is what some editors put in front of a file.
const byteOrderMark = "\ufeff"

// run runs a text's statements until one fails.
func (s *script) run(ctx context.Context, text string) error {
	for _, p := range split(strings.TrimPrefix(text, byteOrderMark)) {
		if line, _, _ := strings.Cut(p.text, "\n"); commandOf(line) == "quit" {
			return nil
		}
		if file, ok := sourceFile(p.text); ok {
			if err := s.source(ctx, file); err != nil {
				return err
			}
			continue
		}
		if err := s.statement(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (s *script) statement(ctx context.Context, p piece) error {
	r, err := s.client.run(ctx, p.text)
	if err != nil {
		fmt.Fprintln(s.err, describeError(err, p.line))
		return errReported
	}
	return show(s.out, r, s.format, p.vertical)
}

// source runs a file's statements.
func (s *script) source(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		fmt.Fprintln(s.err, "lakesql: source:", err)
		return errReported
	}
	return s.run(ctx, string(text))
}

// sourceFile tells whether a text is the client's own command to run a file.
func sourceFile(text string) (file string, ok bool) {
	for _, word := range []string{"source ", `\. `} {
		if len(text) > len(word) && strings.EqualFold(text[:len(word)], word) && !strings.Contains(text, "\n") {
			return strings.TrimSpace(text[len(word):]), true
		}
	}
	return "", false
}
