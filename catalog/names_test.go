package catalog

import "testing"

// TestNamesHaveNoControlCharacters: a name stands in the comments of a program for Spark, where a line end in it would begin a statement.
func TestNamesHaveNoControlCharacters(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE STREAM s INTO t WITH CHECKPOINT './cp' DISABLE AS SELECT * FROM STREAM rate()")
	for _, statement := range []string{
		"CREATE STREAM `a\nimport os` INTO t WITH CHECKPOINT './cp2' AS SELECT * FROM STREAM rate()",
		"CREATE STREAM a INTO `t\r` WITH CHECKPOINT './cp2' AS SELECT * FROM STREAM rate()",
		"ALTER STREAM s RENAME TO `a\nimport os`",
		"CREATE DATABASE `d\n`", "CREATE TABLE `t\t` (id INT)", "CREATE VIEW `v\x7f` AS SELECT 1 AS id",
	} {
		l.refused(statement, "control characters")
	}
}
