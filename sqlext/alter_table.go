package sqlext

import "strings"

// AlterTable is ALTER TABLE in MySQL's and in Spark's words.
type AlterTable struct {
	Name    Name
	Changes []TableChange // in order
	SQL     string        // the whole statement as written, without a trailing ';'
}

// TableChange is one part of an ALTER TABLE: one of the types below.
type TableChange interface{ tableChange() }

// AddColumns is ADD COLUMN[S].
type AddColumns struct {
	Columns     []ColumnDef
	IfNotExists bool
}

// DropColumns is DROP COLUMN[S].
type DropColumns struct {
	Columns  [][]string
	IfExists bool
}

// RenameColumn is RENAME COLUMN a TO b, also the part of CHANGE a b that renames.
type RenameColumn struct {
	Column []string
	To     string
}

// ChangeColumn is MODIFY, CHANGE and ALTER COLUMN, without the renaming. What was not said stays.
type ChangeColumn struct {
	Column       ColumnDef // Type.Name "" when it stays
	DropDefault  bool
	SyncIdentity bool
}

// AddConstraint is ADD CONSTRAINT c CHECK (e).
type AddConstraint struct{ Check Check }

// DropConstraint is DROP CONSTRAINT and DROP CHECK.
type DropConstraint struct {
	Name     string
	IfExists bool
}

// AddKey is ADD PRIMARY KEY, UNIQUE or FOREIGN KEY, which are information.
type AddKey struct {
	Kind string // PRIMARY KEY, UNIQUE KEY or FOREIGN KEY
	Text string // PRIMARY and UNIQUE: the columns; FOREIGN: the constraint
}

// DropKey is DROP PRIMARY KEY and DROP FOREIGN KEY.
type DropKey struct {
	Kind string // PRIMARY KEY or FOREIGN KEY
	Name string // of a FOREIGN KEY
}

// SetProperties is SET TBLPROPERTIES.
type SetProperties struct{ Properties []Option }

// UnsetProperties is UNSET TBLPROPERTIES.
type UnsetProperties struct {
	Keys     []string
	IfExists bool
}

// SetComment is COMMENT = 'text', and COMMENT ON TABLE t IS 'text'.
type SetComment struct{ Comment Value }

// ClusterBy is CLUSTER BY (a, ...), and without columns CLUSTER BY NONE.
type ClusterBy struct{ Columns [][]string }

// DropFeature is DROP FEATURE f [TRUNCATE HISTORY].
type DropFeature struct {
	Feature         string
	TruncateHistory bool
}

// NoChange is a part that asks for what a Delta table does not have, such as ENGINE or DISABLE KEYS, and that dumps are full of.
type NoChange struct{ What string }

// RenameTables is RENAME TABLE a TO b, ... and ALTER TABLE a RENAME TO b.
type RenameTables struct{ Pairs []TablePair }

// TablePair is the old and the new name of a table.
type TablePair struct{ From, To Name }

func (*AlterTable) statement()   {}
func (*RenameTables) statement() {}

func (*AddColumns) tableChange()      {}
func (*DropColumns) tableChange()     {}
func (*RenameColumn) tableChange()    {}
func (*ChangeColumn) tableChange()    {}
func (*AddConstraint) tableChange()   {}
func (*DropConstraint) tableChange()  {}
func (*AddKey) tableChange()          {}
func (*DropKey) tableChange()         {}
func (*SetProperties) tableChange()   {}
func (*UnsetProperties) tableChange() {}
func (*SetComment) tableChange()      {}
func (*ClusterBy) tableChange()       {}
func (*DropFeature) tableChange()     {}
func (*NoChange) tableChange()        {}

// claimAlterTable takes ALTER TABLE but for the tables of users and grants, which are the engine's own.
func (p *parser) claimAlterTable() func() Statement {
	i := 2
	if p.words("ALTER IGNORE TABLE") {
		i = 3
	}
	if p.peek(i).kind == tokWord && p.peek(i).is("mysql") && p.peek(i+1).punct(".") {
		return nil
	}
	return p.alterTable
}

func (p *parser) alterTable() Statement {
	from := p.pos
	p.expect("ALTER")
	p.accept("IGNORE")
	p.expect("TABLE")
	s := &AlterTable{Name: p.tableName()}
	var rename *TablePair
	for p.err == nil {
		if p.renamesTable() {
			rename = &TablePair{From: s.Name, To: p.tableName()}
			if rename.To.Database == "" {
				rename.To.Database = s.Name.Database
			}
		} else {
			p.tableChange(s)
		}
		if !p.acceptPunct(",") {
			break
		}
	}
	s.SQL = p.text(from)
	switch {
	case rename == nil:
		return s
	case len(s.Changes) > 0:
		p.refuse(WrongForm, "ALTER TABLE ... RENAME TO stands alone: rename the table in a statement of its own")
		return nil
	}
	return &RenameTables{Pairs: []TablePair{*rename}}
}

// renamesTable goes over RENAME [TO | AS], when what follows is the new name of the table.
func (p *parser) renamesTable() bool {
	switch next := p.peek(1); {
	case !p.words("RENAME"), next.is("COLUMN"), next.is("INDEX"), next.is("KEY"):
		return false
	}
	p.next()
	if !p.accept("TO") && !p.accept("AS") {
		p.acceptPunct("=")
	}
	return true
}

// commentOn parses Spark's COMMENT ON { TABLE t | COLUMN t.c } IS 'text'.
func (p *parser) commentOn() Statement {
	from := p.pos
	p.expect("COMMENT ON")
	s := &AlterTable{}
	if p.accept("TABLE") {
		s.Name = p.tableName()
		p.expect("IS")
		s.Changes = []TableChange{&SetComment{p.stringValue("a text")}}
	} else {
		p.expect("COLUMN")
		path := p.path()
		if len(path) < 2 {
			p.fail("the name of a table and of a column")
			return nil
		}
		s.Name = Name{Name: path[len(path)-2]}
		if len(path) > 2 {
			s.Name.Database = path[len(path)-3]
		}
		p.expect("IS")
		comment := p.stringValue("a text")
		s.Changes = []TableChange{&ChangeColumn{Column: ColumnDef{Path: path[len(path)-1:], Comment: &comment}}}
	}
	s.SQL = p.text(from)
	return s
}

func (p *parser) renameTables() Statement {
	p.expect("RENAME")
	if !p.accept("TABLE") {
		p.expect("TABLES")
	}
	s := &RenameTables{}
	for p.err == nil {
		pair := TablePair{From: p.tableName()}
		p.expect("TO")
		pair.To = p.tableName()
		s.Pairs = append(s.Pairs, pair)
		if !p.acceptPunct(",") {
			break
		}
	}
	return s
}

// tableChange parses one part of an ALTER TABLE.
func (p *parser) tableChange(s *AlterTable) {
	add := func(c ...TableChange) { s.Changes = append(s.Changes, c...) }
	switch {
	case p.accept("ADD"):
		add(p.addToTable())
	case p.accept("DROP"):
		add(p.dropFromTable())
	case p.accept("RENAME COLUMN"):
		c := &RenameColumn{Column: p.path()}
		p.expect("TO")
		c.To = p.ident("the new name of the column")
		add(c)
	case p.accept("MODIFY COLUMN"), p.accept("MODIFY"):
		add(p.modifyColumn(p.path()))
	case p.accept("CHANGE COLUMN"), p.accept("CHANGE"):
		add(p.changeColumn()...)
	case p.words("ALTER INDEX"), p.words("RENAME INDEX"), p.words("RENAME KEY"):
		p.refuse(NotSupported, "a Delta table has no indexes: files that a condition rules out are skipped by their statistics")
	case p.accept("ALTER COLUMN"), p.accept("ALTER"):
		add(p.alterColumn()...)
	case p.accept("SET TBLPROPERTIES"):
		add(&SetProperties{p.options()})
	case p.accept("UNSET TBLPROPERTIES"):
		c := &UnsetProperties{IfExists: p.accept("IF EXISTS")}
		c.Keys = p.keys()
		add(c)
	case p.accept("CLUSTER BY NONE"):
		add(&ClusterBy{})
	case p.accept("CLUSTER BY"):
		add(&ClusterBy{p.paths()})
	case p.accept("COMMENT"):
		p.acceptPunct("=")
		add(&SetComment{p.stringValue("a text")})
	case p.refusedChange():
	default:
		add(p.noChange())
	}
}

// keys parses ( key, ... ).
func (p *parser) keys() []string {
	var keys []string
	p.expectPunct("(")
	for p.err == nil {
		keys = append(keys, p.key())
		if !p.acceptPunct(",") {
			break
		}
	}
	p.expectPunct(")")
	return keys
}

// refusedChange refuses what would change the table's files or place in ways that Delta has none of.
func (p *parser) refusedChange() bool {
	for _, r := range []struct{ words, why string }{
		{"SET LOCATION", "SET LOCATION is not supported: DROP TABLE forgets an external table, CREATE TABLE ... LOCATION registers it again"},
		{"CONVERT TO", "CONVERT TO CHARACTER SET is not supported: strings of a Delta table are UTF-8; write COLLATE in the query"},
		{"PARTITION", "a Delta table's partitions come and go with its rows: there is nothing to alter"},
		{"SET SERDE", "a Delta table has no SERDE"},
		{"SET SERDEPROPERTIES", "a Delta table has no SERDE"},
		{"RECOVER PARTITIONS", "a Delta table's partitions are in its log: there is nothing to recover"},
		{"ORDER BY", "ORDER BY in ALTER TABLE is not supported: OPTIMIZE t ZORDER BY (c) lays the rows out anew"},
	} {
		if p.words(r.words) {
			p.refuse(NotSupported, r.why)
			return true
		}
	}
	return false
}

// noChange goes over options of MySQL's that mean nothing to a Delta table.
func (p *parser) noChange() TableChange {
	from := p.pos
	switch {
	case p.accept("DISABLE KEYS"), p.accept("ENABLE KEYS"), p.accept("FORCE"):
	case p.accept("ENGINE"), p.accept("ALGORITHM"), p.accept("LOCK"), p.accept("ROW_FORMAT"), p.accept("AUTO_INCREMENT"), p.accept("STATS_PERSISTENT"),
		p.accept("DEFAULT CHARSET"), p.accept("DEFAULT CHARACTER SET"), p.accept("CHARSET"), p.accept("CHARACTER SET"), p.accept("COLLATE"),
		p.accept("DEFAULT COLLATE"):
		p.acceptPunct("=")
		p.next()
	default:
		p.fail("ADD, DROP, RENAME, MODIFY, CHANGE, ALTER COLUMN, SET TBLPROPERTIES, UNSET TBLPROPERTIES, CLUSTER BY or COMMENT")
		return nil
	}
	return &NoChange{What: p.text(from)}
}

// addToTable parses what stands behind ADD.
func (p *parser) addToTable() TableChange {
	name := ""
	switch {
	case p.constraintName(&name), p.words("CHECK"):
		return &AddConstraint{p.check(name)}
	case p.addsIndex():
		p.refuse(NotSupported, "a Delta table has no indexes: files that a condition rules out are skipped by their statistics")
		return nil
	case p.words("PARTITION"):
		p.refuse(NotSupported, "a Delta table's partitions come and go with its rows: there is nothing to add")
		return nil
	case p.words("CONSTRAINT"), p.words("PRIMARY"), p.words("UNIQUE"), p.words("FOREIGN"):
		return p.addKey()
	}
	if !p.accept("COLUMNS") {
		p.accept("COLUMN")
	}
	c := &AddColumns{IfNotExists: p.accept("IF NOT EXISTS")}
	if !p.acceptPunct("(") {
		c.Columns = []ColumnDef{p.newColumn()}
		return c
	}
	for p.err == nil {
		c.Columns = append(c.Columns, p.newColumn())
		if !p.acceptPunct(",") {
			break
		}
	}
	p.expectPunct(")")
	return c
}

// addsIndex reports an index, not a column whose name is one of these words.
func (p *parser) addsIndex() bool {
	t, next := p.peek(0), p.peek(1)
	if !isOneOf(t, []string{"INDEX", "KEY", "FULLTEXT", "SPATIAL"}) {
		return false
	}
	return next.punct("(") || p.peek(2).punct("(") || next.is("INDEX") || next.is("KEY")
}

// newColumn parses a column of ADD COLUMN.
func (p *parser) newColumn() ColumnDef {
	c := columnReader{parser: p}.column(p.path())
	c.Position = p.position()
	return c
}

// addKey parses a key.
func (p *parser) addKey() TableChange {
	from := p.pos
	if p.accept("CONSTRAINT") && !p.words("PRIMARY") && !p.words("UNIQUE") && !p.words("FOREIGN") {
		p.ident("the name of a constraint")
	}
	switch {
	case p.accept("PRIMARY KEY"):
		return &AddKey{Kind: "PRIMARY KEY", Text: p.keyColumns()}
	case p.accept("UNIQUE"):
		if !p.accept("KEY") {
			p.accept("INDEX")
		}
		if !p.peek(0).punct("(") {
			p.ident("the name of a key")
		}
		return &AddKey{Kind: "UNIQUE KEY", Text: p.keyColumns()}
	}
	p.expect("FOREIGN KEY")
	if !p.peek(0).punct("(") {
		p.ident("the name of a key")
	}
	p.parens()
	p.references()
	return &AddKey{Kind: "FOREIGN KEY", Text: p.text(from)}
}

func (p *parser) keyColumns() string {
	columns := strings.Join(p.names("the name of a column"), ", ")
	if p.accept("USING") {
		p.next()
	}
	return columns
}

// dropFromTable parses what stands behind DROP.
func (p *parser) dropFromTable() TableChange {
	switch {
	case p.accept("CONSTRAINT"), p.accept("CHECK"):
		c := &DropConstraint{IfExists: p.accept("IF EXISTS")}
		c.Name = p.ident("the name of a constraint")
		if !p.accept("CASCADE") {
			p.accept("RESTRICT")
		}
		return c
	case p.accept("PRIMARY KEY"):
		return &DropKey{Kind: "PRIMARY KEY"}
	case p.accept("FOREIGN KEY"):
		return &DropKey{Kind: "FOREIGN KEY", Name: p.ident("the name of a key")}
	case p.accept("FEATURE"):
		c := &DropFeature{}
		if p.peek(0).kind == tokString {
			c.Feature = p.next().text
		} else {
			c.Feature = p.ident("the name of a table feature")
		}
		c.TruncateHistory = p.accept("TRUNCATE HISTORY")
		return c
	case (p.words("INDEX") || p.words("KEY")) && p.isName(p.peek(1)):
		p.refuse(NotSupported, "a Delta table has no indexes: there is none to drop")
		return nil
	case p.words("PARTITION"):
		p.refuse(NotSupported, "DROP PARTITION is not supported; DELETE FROM t WHERE the partition column has the value drops whole files at once")
		return nil
	}
	columns := p.accept("COLUMNS")
	if !columns {
		p.accept("COLUMN")
	}
	c := &DropColumns{IfExists: p.accept("IF EXISTS")}
	if !p.peek(0).punct("(") {
		c.Columns = [][]string{p.path()}
		for columns && p.acceptPunct(",") {
			c.Columns = append(c.Columns, p.path())
		}
		return c
	}
	c.Columns = p.paths()
	return c
}

// modifyColumn parses a definition that replaces the one before.
func (p *parser) modifyColumn(path []string) TableChange {
	c := columnReader{parser: p}.column(path)
	c.Position = p.position()
	return &ChangeColumn{Column: c}
}

// changeColumn parses MySQL's CHANGE a b type ..., and Spark's CHANGE a type and CHANGE a COMMENT 'text'.
func (p *parser) changeColumn() []TableChange {
	path := p.path()
	switch next := p.peek(0); {
	case isOneOf(next, []string{"TYPE", "SET", "DROP", "SYNC", "FIRST", "AFTER"}),
		next.is("COMMENT") && p.peek(1).kind == tokString:
		return p.columnChanges(path)
	case p.isName(next) && p.peek(1).kind == tokWord && !p.typeAttribute(1):
		name := p.next().text
		changed := p.modifyColumn(append(path[:len(path)-1:len(path)-1], name))
		if name == path[len(path)-1] {
			return []TableChange{changed}
		}
		return []TableChange{&RenameColumn{Column: path, To: name}, changed}
	}
	return []TableChange{p.modifyColumn(path)}
}

// typeAttribute reports whether the word i ahead goes on with a column's definition after its type.
func (p *parser) typeAttribute(i int) bool {
	return isOneOf(p.peek(i), []string{
		"NOT", "NULL", "DEFAULT", "COMMENT", "GENERATED", "AUTO_INCREMENT", "CHECK", "CONSTRAINT", "PRIMARY", "UNIQUE", "KEY", "FIRST", "AFTER",
		"UNSIGNED", "SIGNED", "ZEROFILL", "PRECISION", "CHARSET", "COLLATE", "VARYING",
	})
}

// alterColumn parses what stands behind ALTER COLUMN: Spark's list of columns too.
func (p *parser) alterColumn() []TableChange {
	changes := p.columnChanges(p.path())
	for p.err == nil && p.peek(0).punct(",") && p.isName(p.peek(1)) && isOneOf(p.peek(2), []string{"TYPE", "SET", "DROP", "COMMENT", "SYNC", "FIRST", "AFTER"}) &&
		!isOneOf(p.peek(1), []string{"ADD", "DROP", "ALTER", "MODIFY", "CHANGE", "SET"}) {
		p.next()
		changes = append(changes, p.columnChanges(p.path())...)
	}
	return changes
}

// columnChanges parses TYPE t, COMMENT 'text', SET or DROP NOT NULL or DEFAULT, SYNC IDENTITY, FIRST and AFTER.
func (p *parser) columnChanges(path []string) []TableChange {
	c := &ChangeColumn{Column: ColumnDef{Path: path}}
	for n := 0; p.err == nil; n++ {
		switch {
		case p.accept("TYPE"), p.accept("SET DATA TYPE"):
			c.Column.Type = p.columnType()
		case p.accept("COMMENT"):
			v := p.stringValue("a text")
			c.Column.Comment = &v
		case p.accept("SET NOT NULL"):
			c.Column.Null = NotNull
		case p.accept("DROP NOT NULL"):
			c.Column.Null = Null
		case p.accept("SET DEFAULT"):
			c.Column.Default = p.defaultText()
		case p.accept("DROP DEFAULT"):
			c.DropDefault = true
		case p.accept("SYNC IDENTITY"):
			c.SyncIdentity = true
		case p.words("DROP IDENTITY"):
			p.refuse(NotSupported, "ALTER COLUMN ... DROP IDENTITY is not supported yet")
		case p.words("SET VISIBLE"), p.words("SET INVISIBLE"):
			p.refuse(NotSupported, "a column of a Delta table is always visible")
		case p.words("FIRST"), p.words("AFTER"):
			c.Column.Position = p.position()
		case n > 0:
			return []TableChange{c}
		default:
			p.fail("TYPE t, COMMENT 'text', SET NOT NULL, DROP NOT NULL, SET DEFAULT e, DROP DEFAULT, SYNC IDENTITY, FIRST or AFTER")
		}
	}
	return nil
}
