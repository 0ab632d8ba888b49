package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usage is what something cost the process that did it.
type usage struct {
	Wall, CPU time.Duration // CPU: user and system, of all threads
	Memory    int64         // bytes by which the peak of the resident set exceeded what was resident before
}

// measure runs fn on a heap without garbage.
func measure(fn func() error) (usage, error) {
	runtime.GC()
	debug.FreeOSMemory()
	// 5 makes the peak what is resident now.
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return usage{}, fmt.Errorf("memory is measured by Linux' /proc: %w", err)
	}
	before, err := residentPeak("self")
	if err != nil {
		return usage{}, err
	}
	u, err := timed(fn)
	if err != nil {
		return usage{}, err
	}
	peak, err := residentPeak("self")
	u.Memory = peak - before
	return u, err
}

// timed runs fn without a look at memory.
func timed(fn func() error) (usage, error) {
	cpu, began := ownCPU(), time.Now()
	err := fn()
	return usage{Wall: time.Since(began), CPU: ownCPU() - cpu}, err
}

// residentPeak is VmHWM of a process, "self" for this one, in bytes.
func residentPeak(pid string) (int64, error) { return memoryOf(pid, "VmHWM") }

// memoryOf is one of the numbers of bytes in the status of a process.
func memoryOf(pid, name string) (int64, error) {
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kB, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kB << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/%s/status has no %s", pid, name)
}

// ownCPU is the CPU time of this process so far.
func ownCPU() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// inProcess does one of the measurements in a process of its own, over the tables below dir.
func inProcess(name, dir string) ([]usage, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	cmd := exec.Command(self, "-measure", name, "-tables", dir)
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("measure %s: %w", name, err)
	}
	var found []usage
	return found, json.Unmarshal(out.Bytes(), &found)
}

// median is that of one of the times of all usages.
func median(all []usage, of func(usage) time.Duration) time.Duration {
	values := make([]time.Duration, len(all))
	for i, u := range all {
		values[i] = of(u)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func wall(u usage) time.Duration { return u.Wall }
func cpu(u usage) time.Duration  { return u.CPU }
