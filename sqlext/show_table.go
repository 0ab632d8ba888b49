package sqlext

// ShowProperties is SHOW TBLPROPERTIES t [('key')].
type ShowProperties struct {
	Table Name
	Key   string // "" all
}

// ShowPartitions is SHOW PARTITIONS t.
type ShowPartitions struct{ Table Name }

func (*ShowProperties) statement() {}
func (*ShowPartitions) statement() {}

func (p *parser) showProperties() Statement {
	p.expect("SHOW TBLPROPERTIES")
	s := &ShowProperties{Table: p.tableName()}
	if p.acceptPunct("(") {
		s.Key = p.key()
		p.expectPunct(")")
	}
	return s
}

func (p *parser) showPartitions() Statement {
	p.expect("SHOW PARTITIONS")
	return &ShowPartitions{Table: p.tableName()}
}
