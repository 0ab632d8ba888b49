// Package likemysql holds lakesql's answers beside those that a MySQL server gave to the same statements: values, errors, warnings, and the metadata of the
// columns. A file testdata/NAME.sql has the statements, one a line, testdata/NAME.mysql what MySQL 9.7 answered (8.0 could not be had), and testdata/differences.txt where lakesql answers
// otherwise. The test fails for each difference that is not in that file, and for each in it that is none any more: then
//
//	go test ./integration/likemysql -update
//
// writes the file. For new statements MySQL is asked, where one listens without a password for root; its database likemysql is made anew:
//
//	go test ./integration/likemysql -mysql 127.0.0.1:3306
//
// Another server of MySQL's protocol is measured by the same answers, which tells what a number of differences is worth:
//
//	go test ./integration/likemysql -run AnotherServer -v -against 127.0.0.1:3306
package likemysql
