package harness

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/catalog"
	"lakesql/server"
	"lakesql/store"
)

// StartSelf starts this test binary in dir with a variable of its environment, "NAME=value", by which its TestMain calls ServeOver.
func StartSelf(t *testing.T, dir, variable string) *Process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), variable)
	return Await(t, cmd)
}

// ServeOver serves the lake in the working folder as `lakesql serve` does, with accounts and without TLS, over the stores that open gives.
func ServeOver(open store.Opener) error {
	ctx := context.Background()
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	fence, err := store.NewFence(dir, dir)
	if err != nil {
		return err
	}
	cat, err := catalog.Open(ctx, catalog.Config{
		Warehouse: store.FileURI(filepath.Join(dir, "lake")),
		Open:      open,
		Fence:     fence,
		DataDir:   filepath.Join(dir, "data"),
		Owner:     "crash test",
	})
	if err != nil {
		return err
	}
	if err := cat.OpenUsers(); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv, err := server.New(server.Config{Listener: listener, Engine: cat.Engine(), NewSession: cat.NewSession, Streams: cat.Streams(), Spill: cat.SpillSpace()})
	if err != nil {
		return err
	}
	if err := cat.Start(ctx); err != nil {
		return err
	}
	fmt.Println("ready on", srv.Addr())
	return srv.Serve(ctx)
}

// KillSelf ends this process as kill -9 does.
func KillSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way
}

// StopSelf pauses this process as kill -STOP does, until Continue.
func StopSelf() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

// Continue lets a process go on that was paused.
func (p *Process) Continue(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGCONT))
}

// WaitKilled waits until the process has ended by KillSelf.
func (p *Process) WaitKilled(t *testing.T) {
	t.Helper()
	state := p.Wait(t)
	status, ok := state.Sys().(syscall.WaitStatus)
	require.True(t, ok && status.Signaled() && status.Signal() == syscall.SIGKILL, "the process ended with %v\n%s", state, p.Log)
}
