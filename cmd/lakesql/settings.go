package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"lakesql/catalog"
)

// Defaults of the settings.
const (
	defaultWarehouse = "./lake"
	defaultListen    = "127.0.0.1:3306" // MySQL's port
	defaultLogLevel  = "info"
	defaultLogFormat = "text"
)

// settings are what the server is told. Each comes from a flag, else from LAKESQL_<NAME>, else from the file, else from its default.
type settings struct {
	Warehouse  string   `yaml:"warehouse"`
	Listen     string   `yaml:"listen"`
	HTTP       string   `yaml:"http"`
	DataDir    string   `yaml:"data_dir"`
	AllowPaths []string `yaml:"allow_paths"`
	LogLevel   string   `yaml:"log_level"`
	LogFormat  string   `yaml:"log_format"`
	// Memory, QueryMemory and SpillLimit are numbers of bytes as parseSize reads them; "": the catalog's default.
	Memory      string `yaml:"memory"`
	QueryMemory string `yaml:"query_memory"`
	SpillDir    string `yaml:"spill_dir"`
	SpillLimit  string `yaml:"spill_limit"`
	// SSLCert, SSLKey and SSLCA are PEM files; "": the server makes its own certificate, and asks clients for none.
	SSLCert string `yaml:"ssl_cert"`
	SSLKey  string `yaml:"ssl_key"`
	SSLCA   string `yaml:"ssl_ca"`
	// NativePassword is ON or OFF.
	NativePassword string `yaml:"mysql_native_password"`
}

// texts are the settings that are one text, by their names in the environment.
func (s *settings) texts() map[string]*string {
	return map[string]*string{
		"LAKESQL_WAREHOUSE":    &s.Warehouse,
		"LAKESQL_LISTEN":       &s.Listen,
		"LAKESQL_HTTP":         &s.HTTP,
		"LAKESQL_DATA_DIR":     &s.DataDir,
		"LAKESQL_LOG_LEVEL":    &s.LogLevel,
		"LAKESQL_LOG_FORMAT":   &s.LogFormat,
		"LAKESQL_MEMORY":       &s.Memory,
		"LAKESQL_QUERY_MEMORY": &s.QueryMemory,
		"LAKESQL_SPILL_DIR":    &s.SpillDir,
		"LAKESQL_SPILL_LIMIT":  &s.SpillLimit,
		"LAKESQL_SSL_CERT":     &s.SSLCert,
		"LAKESQL_SSL_KEY":      &s.SSLKey,
		"LAKESQL_SSL_CA":       &s.SSLCA,

		"LAKESQL_MYSQL_NATIVE_PASSWORD": &s.NativePassword,
	}
}

// resolve puts the settings together. file is the configuration file, "" for none; flags has "" and nil for what was not given.
func resolve(file string, getenv func(string) string, flags settings) (settings, error) {
	s := settings{Warehouse: defaultWarehouse, Listen: defaultListen, LogLevel: defaultLogLevel, LogFormat: defaultLogFormat}
	if file != "" {
		if err := readSettings(file, &s); err != nil {
			return settings{}, err
		}
	}
	given := flags.texts()
	for name, value := range s.texts() {
		if v := getenv(name); v != "" {
			*value = v
		}
		if v := *given[name]; v != "" {
			*value = v
		}
	}
	if v := getenv("LAKESQL_ALLOW_PATHS"); v != "" {
		s.AllowPaths = filepath.SplitList(v)
	}
	if flags.AllowPaths != nil {
		s.AllowPaths = flags.AllowPaths
	}
	return s, s.complete(getenv)
}

// complete makes the paths absolute and gives those that were not set.
func (s *settings) complete(getenv func(string) string) error {
	here, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the folder that lakesql was started in: %w", err)
	}
	if len(s.AllowPaths) == 0 {
		s.AllowPaths = []string{here}
	}
	if s.DataDir == "" {
		if s.DataDir, err = defaultDataDir(getenv); err != nil {
			return err
		}
	}
	paths := []*string{&s.Warehouse, &s.DataDir}
	for _, path := range []*string{&s.SpillDir, &s.SSLCert, &s.SSLKey, &s.SSLCA} {
		if *path != "" {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		if strings.Contains(*path, "://") {
			return fmt.Errorf("%q: only folders of this machine are supported yet", *path)
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return fmt.Errorf("make %q absolute: %w", *path, err)
		}
	}
	return nil
}

// nativePassword says whether accounts may have mysql_native_password: not unless it is asked for.
func (s *settings) nativePassword() (bool, error) {
	switch strings.ToUpper(s.NativePassword) {
	case "", "OFF":
		return false, nil
	case "ON":
		return true, nil
	}
	return false, fmt.Errorf("--mysql-native-password %q: take ON or OFF", s.NativePassword)
}

// memory is what the catalog is told of it.
func (s *settings) memory() (catalog.Memory, error) {
	m := catalog.Memory{SpillDir: s.SpillDir}
	for flag, size := range map[string]struct {
		text string
		to   *int64
	}{"--memory": {s.Memory, &m.All}, "--query-memory": {s.QueryMemory, &m.Query}, "--spill-limit": {s.SpillLimit, &m.SpillLimit}} {
		if size.text == "" {
			continue
		}
		var err error
		if *size.to, err = parseSize(size.text); err != nil {
			return m, fmt.Errorf("%s: %w", flag, err)
		}
	}
	return m, nil
}

// defaultDataDir is where programs keep their own data on this system.
func defaultDataDir(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "lakesql"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the server's own data: %w; name one with --data-dir", err)
	}
	return filepath.Join(home, ".local", "share", "lakesql"), nil
}

func readSettings(file string, into *settings) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("configuration %s: %w", file, err)
	}
	return nil
}
