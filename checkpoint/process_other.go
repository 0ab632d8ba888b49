//go:build !linux

package checkpoint

import "os"

// thisProcess has no machine: whether a process has ended cannot be told beyond the reuse of its number, so others wait for the TTL.
func thisProcess() process { return process{PID: os.Getpid()} }

func processEnded(process) bool { return false }
