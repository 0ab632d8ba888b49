package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// thisProcess names the running process.
func thisProcess() process {
	p := process{PID: os.Getpid()}
	boot, bootErr := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, spaceErr := os.Readlink("/proc/self/ns/pid")
	start, _, startErr := processStart(p.PID)
	if bootErr != nil || spaceErr != nil || startErr != nil {
		return p // without a machine, others wait for the TTL
	}
	p.Machine, p.Start = strings.TrimSpace(string(boot))+" "+space, start
	return p
}

// processEnded tells whether a process of this machine has ended; its number may belong to another one now.
func processEnded(p process) bool {
	start, zombie, err := processStart(p.PID)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && (zombie || start != p.Start)
}

// processStart reads /proc/<pid>/stat: the state and the start time in clock ticks since the boot, fields 3 and 22 of proc_pid_stat(5).
func processStart(pid int) (start string, zombie bool, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false, err
	}
	behindName := stat[strings.LastIndexByte(string(stat), ')')+1:] // the name, field 2, may hold anything
	fields := strings.Fields(string(behindName))
	if len(fields) < 20 {
		return "", false, fmt.Errorf("/proc/%d/stat has %d fields behind the name", pid, len(fields))
	}
	return fields[19], fields[0] == "Z" || fields[0] == "X", nil
}
