package catalog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	// secretPrefix keeps statements from reading the rest of the server's environment.
	secretPrefix = "LAKESQL_SECRET_"
	// maxSecretBytes is more than any password, key or chain of certificates takes.
	maxSecretBytes = 1 << 20
)

// secrets are what options of statements name and do not say: env:NAME, a variable of the server's environment, or file:NAME, a
// file in the folder secrets of its data folder.
type secrets struct{ dataDir string }

// read returns the secret. No error holds any of it.
func (s secrets) read(reference string) (string, error) {
	if name, ok := strings.CutPrefix(reference, "env:"); ok {
		return readSecretVariable(name)
	}
	if name, ok := strings.CutPrefix(reference, "file:"); ok {
		return s.readFile(name)
	}
	return "", errors.New("a secret is not written into a statement, where everybody can read it: give env:" + secretPrefix + "NAME, or file:NAME of the folder secrets in the server's data folder")
}

func readSecretVariable(name string) (string, error) {
	if !strings.HasPrefix(name, secretPrefix) {
		return "", fmt.Errorf("env:%s: only variables whose names begin with %s are read", name, secretPrefix)
	}
	value, ok := os.LookupEnv(name)
	if !ok || value == "" {
		return "", fmt.Errorf("env:%s: the server's environment has no such variable; set it and start the server again", name)
	}
	return value, nil
}

// readFile reads a file of the folder, and follows no link out of it. An end of line behind the secret is no part of it.
func (s secrets) readFile(name string) (string, error) {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\`) {
		return "", fmt.Errorf("file:%s: give the name of a file in the folder secrets of the server's data folder, without a path", name)
	}
	if s.dataDir == "" {
		return "", fmt.Errorf("file:%s: the server has no data folder; start it with --data-dir", name)
	}
	path := filepath.Join(s.dataDir, "secrets", name)
	info, err := os.Lstat(path)
	if err != nil {
		return "", fmt.Errorf("file:%s: %w", name, err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("file:%s: %s is no plain file, and links are not followed", name, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("file:%s: %w", name, err)
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return "", fmt.Errorf("file:%s: %s was replaced while it was read", name, path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSecretBytes+1))
	if err != nil {
		return "", fmt.Errorf("file:%s: %w", name, err)
	}
	if len(data) > maxSecretBytes {
		return "", fmt.Errorf("file:%s: it is longer than %d bytes", name, maxSecretBytes)
	}
	text := strings.TrimRight(string(data), "\r\n")
	if text == "" {
		return "", fmt.Errorf("file:%s: it is empty", name)
	}
	return text, nil
}
