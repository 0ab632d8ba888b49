package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseSize reads a number of bytes: 1048576, 512MB, 1.5GiB, 2g. The letters k, m, g and t are powers of 1024.
func parseSize(text string) (int64, error) {
	number := strings.TrimRight(text, "kKmMgGtTiIbB ")
	shift := 0
	switch unit := strings.ToLower(strings.TrimSpace(text[len(number):])); unit {
	case "", "b":
	case "k", "kb", "kib":
		shift = 10
	case "m", "mb", "mib":
		shift = 20
	case "g", "gb", "gib":
		shift = 30
	case "t", "tb", "tib":
		shift = 40
	default:
		return 0, fmt.Errorf("%q is no number of bytes: write 512MB, 2GB, or the bytes", text)
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !(n > 0) || n*float64(int64(1)<<shift) >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is no number of bytes: write 512MB, 2GB, or the bytes", text)
	}
	return int64(n * float64(int64(1)<<shift)), nil
}
