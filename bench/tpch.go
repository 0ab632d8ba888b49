package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// tpchSuite is TPC-H at scale factor 1.
var tpchSuite = suite{
	name: "tpch", title: "TPC-H, scale factor 1", version: 1,
	sample: 0.01,
	about:  "The 22 queries, with the standard's parameters for validation; data by tpchgen-cli, 4 files a table, Snappy.",
	make:   makeTPCH,
}

// tpchgen is the generator, from PyPI.
const tpchgen = "tpchgen-cli==4.0.0"

// makeTPCH has the generator, in a Python of its own that is kept beside the data, write the tables into folder.
func makeTPCH(folder string, scale float64) error {
	venv := filepath.Join(filepath.Dir(folder), ".tpchgen")
	generator := filepath.Join(venv, "bin", "tpchgen-cli")
	if _, err := os.Stat(generator); err != nil {
		if err := command("python3", "-m", "venv", venv); err != nil {
			return err
		}
		if err := command(filepath.Join(venv, "bin", "pip"), "install", "--quiet", tpchgen); err != nil {
			return err
		}
	}
	return command(generator, "parquet", "--scale-factor", strconv.FormatFloat(scale, 'f', -1, 64), "--parts", "4", "--row-group-bytes", "64MB", "--output-dir", folder)
}

// command runs a program; what it says goes into the error.
func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}
