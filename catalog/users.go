package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/mysql"

	"lakesql/store"
)

// usersFile is the file of the accounts in the server's data folder. docs/formats/users.md has its format.
const usersFile = "users"

// usersHeader begins the file; a sum of what follows its line ends the line.
const usersHeader = "lakesql users 1 sha256:"

// rootUser is the account that a new data folder has.
const rootUser, rootHost = "root", "localhost"

// users keeps the accounts, their privileges and roles in a file: what GMS makes of them, behind a line that tells the version and a
// checksum. The file always holds what the last statement about accounts that succeeded left; a statement that fails changes nothing, in
// memory neither.
type users struct {
	path string
	db   *mysql_db.MySQLDb

	changing sync.Mutex // held by each statement about accounts
	image    []byte     // what the file holds behind its first line; guarded by changing
}

var _ mysql_db.MySQLDbPersistence = (*users)(nil)

// OpenUsers reads the accounts from the data folder; from then on privileges are checked. A folder without any gets root@localhost, who has
// no password and so gets in from this machine only.
func (c *Catalog) OpenUsers() error {
	u := &users{path: filepath.Join(c.cfg.DataDir, usersFile), db: c.engine.Analyzer.Catalog.MySQLDb}
	u.db.SetPersister(u)
	u.db.SetEnabled(true)
	c.users = u
	u.changing.Lock()
	defer u.changing.Unlock()
	err := u.read()
	if errors.Is(err, fs.ErrNotExist) {
		if err = u.makeRoot(); err == nil {
			return nil
		}
		if u.read() != nil { // unless another server on the folder has made it meanwhile
			return err
		}
	} else if err != nil {
		return err
	}
	return u.restore()
}

func (u *users) makeRoot() error {
	ed := u.db.Editor()
	defer ed.Close()
	ed.RemoveUser(mysql_db.UserPrimaryKey{User: rootUser, Host: rootHost})
	ed.PutUser(&mysql_db.User{
		User: rootUser, Host: rootHost, Plugin: string(mysql.CachingSha2Password), IsSuperUser: true,
		PrivilegeSet: mysql_db.NewPrivilegeSetWithAllPrivileges(), PasswordLastChanged: time.Now().UTC(),
	})
	return u.db.Persist(sql.NewEmptyContext(), ed)
}

// read takes the file's content. An error names the file.
func (u *users) read() error {
	data, err := os.ReadFile(u.path)
	if err != nil {
		return fmt.Errorf("read the accounts: %w", err)
	}
	line, image, found := bytes.Cut(data, []byte("\n"))
	sum, known := bytes.CutPrefix(line, []byte(usersHeader))
	if !found || !known {
		return fmt.Errorf("the file of accounts %s begins with %.40q, not with %q: another version of lakesql wrote it, or it is damaged; put a copy of it back", u.path, line, usersHeader)
	}
	if string(sum) != sumOf(image) {
		return fmt.Errorf("the file of accounts %s is damaged: its checksum is not that of its content; put a copy of it back", u.path)
	}
	u.image = image
	return nil
}

func sumOf(image []byte) string {
	sum := sha256.Sum256(image)
	return hex.EncodeToString(sum[:])
}

// restore makes the accounts those of the image.
func (u *users) restore() error {
	ed := u.db.Editor()
	defer ed.Close()
	if err := u.db.OverwriteUsersAndGrantData(sql.NewEmptyContext(), ed, u.image); err != nil {
		return fmt.Errorf("the file of accounts %s: %w", u.path, err)
	}
	return nil
}

// change runs a statement about accounts, which calls begin before it changes the first: what it does until then, such as to look whether
// the user may do it at all, costs no more than that. Where it fails later, the accounts are again what they were.
func (u *users) change(run func(begin func()) error) error {
	u.changing.Lock()
	defer u.changing.Unlock()
	begun := false
	err := run(func() { begun = true })
	if err != nil && begun {
		err = errors.Join(err, u.restore())
	}
	return err
}

// reload is FLUSH PRIVILEGES: the accounts become those of the file.
func (u *users) reload() error {
	u.changing.Lock()
	defer u.changing.Unlock()
	if err := u.read(); err != nil {
		return err
	}
	return u.restore()
}

// Persist replaces the file, durably, before the statement that made the change succeeds. GMS calls it under the lock of its accounts.
func (u *users) Persist(_ *sql.Context, image []byte) error {
	if err := u.unchanged(); err != nil {
		return err
	}
	if err := store.WriteOwnFile(u.path, 0o600, false, []byte(usersHeader+sumOf(image)+"\n"), image); err != nil {
		return fmt.Errorf("write the accounts: %w", err)
	}
	u.image = bytes.Clone(image)
	return nil
}

// unchanged refuses to write over what another process has written since.
func (u *users) unchanged() error {
	data, err := os.ReadFile(u.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the accounts: %w", err)
	}
	if _, image, _ := bytes.Cut(data, []byte("\n")); !bytes.Equal(image, u.image) {
		return refuse(KindInvalid, "another process has changed the accounts in %s: FLUSH PRIVILEGES takes them over, then give the statement again", u.path)
	}
	return nil
}
