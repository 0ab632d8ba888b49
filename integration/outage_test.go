package integration

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
	"lakesql/store"
	"lakesql/store/faultstore"
)

// outage takes away what the stream sales_in needs, and gives it back.
type outage struct {
	name       string
	begin, end func()
	reason     string // part of what the stream says meanwhile
	stalls     bool   // work is known to be due, and the time that STALLED takes is waited
	landing    string // as the stream names it; "": ./landing
	away       bool   // the landing folder is: the second file comes afterwards
}

// TestOutagesOfRealDisks fills a disk, unmounts the folder of the source and makes the table read-only, in a mount namespace that only the server sees: the stream is
// RETRYING with the reason, STALLED where work is due, and goes on by itself. Where the system allows no such namespace, TestOutagesOfAFaultyStore is all.
func TestOutagesOfRealDisks(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for STALLED, which takes half a minute; make test runs it")
	}
	if m, why := privateMounts(t); m == nil {
		t.Skipf("no private mounts on this machine (%s): only TestOutagesOfAFaultyStore has been run", why)
	}
	for _, of := range []func(*testing.T, *mounts, string) outage{diskFull, unmounted, readOnly} {
		dir := landing(t)
		m, why := privateMounts(t)
		require.NotNil(t, m, why)
		o := of(t, m, dir)
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			o.play(t, dir, m.serve(t, dir))
		})
	}
}

// TestOutagesOfAFaultyStore is the same by errors that the store below the server makes, and by a source folder that is renamed away.
func TestOutagesOfAFaultyStore(t *testing.T) {
	for _, c := range []struct{ name, errno, below, reason string }{
		{"disk full", "ENOSPC", "", "no space left on device"},
		{"table read-only", "EROFS", "/lake/lake/sales/", "read-only file system"},
		{"folder away", "", "", "landing is not there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := landing(t)
			o := outage{name: c.name, reason: c.reason}
			fault := filepath.Join(dir, faultFile)
			o.begin = func() { require.NoError(t, os.WriteFile(fault, []byte(c.errno+" "+c.below), 0o644)) }
			o.end = func() { require.NoError(t, os.Remove(fault)) }
			if c.errno == "" {
				landing := filepath.Join(dir, "landing")
				o.away = true
				o.begin = func() { require.NoError(t, os.Rename(landing, landing+".away")) }
				o.end = func() { require.NoError(t, os.Rename(landing+".away", landing)) }
			}
			o.play(t, dir, harness.StartSelf(t, dir, faultyEnv+"=1"))
		})
	}
}

// play runs a stream through the outage.
func (o *outage) play(t *testing.T, dir string, p *harness.Process) {
	p.Exec(t, strings.NewReplacer("AS SELECT", "TRIGGER EVERY 1 SECOND AS SELECT", "./landing", cmp.Or(o.landing, "./landing")).Replace(createSales))
	drop(t, dir, "data_1.csv", data1)
	p.Exec(t, caughtUp)
	o.begin()
	if !o.away {
		drop(t, dir, "data_2.csv", data2)
	}
	require.Contains(t, awaitState(t, textClient{}, p, "RETRYING")[0][1], o.reason)
	if o.stalls {
		require.Contains(t, awaitState(t, textClient{}, p, "STALLED")[0][1], o.reason)
	}
	o.end()
	if o.away {
		drop(t, dir, "data_2.csv", data2)
	}
	p.Exec(t, caughtUp)
	require.Equal(t, "1 2 3 4", ids(t, textClient{}, p))
	require.Equal(t, [][]string{{"0"}}, p.Rows(t, "SELECT ATTEMPTS FROM information_schema.STREAMS"))
	p.Kill()
}

// mounts is a mount namespace of its own.
type mounts struct{ pid int }

// privateMounts makes one, which ends with the test, or says why it cannot.
func privateMounts(t *testing.T) (m *mounts, why string) {
	holder := exec.Command("unshare", "-rm", "sh", "-c", "mount -t tmpfs none /mnt && umount /mnt && echo ready && exec cat")
	in, err := holder.StdinPipe()
	require.NoError(t, err)
	out, err := holder.StdoutPipe()
	require.NoError(t, err)
	var said strings.Builder
	holder.Stderr = &said
	if err := holder.Start(); err != nil {
		return nil, err.Error()
	}
	line, _ := bufio.NewReader(out).ReadString('\n') // what it says else is in said
	if line != "ready\n" {
		_ = holder.Wait() // that it failed is known
		return nil, strings.TrimSpace(said.String())
	}
	t.Cleanup(func() {
		require.NoError(t, in.Close())
		require.NoError(t, holder.Wait())
	})
	return &mounts{holder.Process.Pid}, ""
}

// command runs a shell command in the namespace, in dir.
func (m *mounts) command(dir, command string) *exec.Cmd {
	return exec.Command("nsenter", "-t", strconv.Itoa(m.pid), "-U", "-m", "--preserve-credentials", "sh", "-ec", fmt.Sprintf("cd '%s'; %s", dir, command))
}

func (m *mounts) do(t *testing.T, dir, command string) {
	t.Helper()
	out, err := m.command(dir, command).CombinedOutput()
	require.NoError(t, err, "%s: %s", command, out)
}

// serve starts the server in the namespace.
func (m *mounts) serve(t *testing.T, dir string) *harness.Process {
	program := harness.Command("serve", "--warehouse", "./lake", "--listen", "127.0.0.1:0", "--data-dir", "./data")
	return harness.Await(t, m.command(dir, "exec '"+strings.Join(program.Args, "' '")+"'"))
}

// diskFull has the lake on a disk of 16 MB, which something else fills.
func diskFull(t *testing.T, m *mounts, dir string) outage {
	m.do(t, dir, "mkdir lake; mount -t tmpfs -o size=16m none lake")
	return outage{
		name: "disk full", reason: "no space left on device", stalls: true,
		begin: func() { m.do(t, dir, "! dd if=/dev/zero of=lake/fill bs=4k 2>/dev/null") },
		end:   func() { m.do(t, dir, "rm lake/fill") },
	}
}

// unmounted has the landing folder on a disk that is mounted elsewhere meanwhile.
func unmounted(t *testing.T, m *mounts, dir string) outage {
	mount := "mount --bind '" + dir + "' disk"
	m.do(t, dir, "mkdir disk; "+mount)
	return outage{
		name: "source unmounted", reason: "disk/landing is not there", landing: "./disk/landing", away: true,
		begin: func() { m.do(t, dir, "umount -l disk") },
		end:   func() { m.do(t, dir, mount) },
	}
}

// readOnly makes the table's disk read-only.
func readOnly(t *testing.T, m *mounts, dir string) outage {
	return outage{
		name: "table read-only", reason: "read-only file system", stalls: true,
		begin: func() {
			m.do(t, dir, "mount --bind lake/lake/sales lake/lake/sales; mount -o remount,bind,ro lake/lake/sales")
		},
		end: func() { m.do(t, dir, "mount -o remount,bind,rw lake/lake/sales") },
	}
}

// faultyEnv makes the test binary a server whose writes fail while faultFile is in its folder.
const faultyEnv = "LAKESQL_FAULTY"

// faultFile says how and where: "ENOSPC part-of-the-URI".
const faultFile = "fault"

// faultyStore opens local stores that fail so.
func faultyStore(uri string) (store.Store, error) {
	inner, err := store.Open(uri)
	if err != nil {
		return nil, err
	}
	st := faultstore.New(inner)
	st.Add(faultstore.Rule{
		Match: faultstore.Is(append(faultstore.Durable, faultstore.Create, faultstore.Write)...),
		Before: func(ctx context.Context, op faultstore.Op) error {
			said, err := os.ReadFile(faultFile)
			if err != nil {
				return nil // there is none
			}
			errno, part, _ := strings.Cut(string(said), " ")
			if !strings.Contains(uri+"/"+op.Key, part) {
				return nil
			}
			return faultstore.Fail(map[string]error{"ENOSPC": syscall.ENOSPC, "EROFS": syscall.EROFS}[errno])(ctx, op)
		},
	})
	return st, nil
}
